/* control_block_joint: control_block with the payload behind the block, in one allocation.
 *
 * IDEA
 *   What std::make_shared does: the handles stay two pointers wide, but birth costs one allocation,
 *   and the counts share a line with the payload's beginning. Its distance to control_block is what
 *   the second allocation costs; its distance to packed64 is what the second pointer costs.
 *   A weak handle keeps the payload's memory: there is no RC_CAP_EARLY_FREE.
 *
 * LAYOUT (header 16 bytes, one allocation)
 *
 *     handle (block, payload)
 *               |       `--------------------------.
 *               v                                  v
 *               +---------------------+------------+-------------
 *               | counts (64, atomic) | class (64) | payload ...
 *               +---------------------+------------+-------------
 *
 * INVARIANT, ORDERING
 *   control_block's.
 *
 * SOURCE
 *   std::make_shared, boost::make_shared.
 */
#define CONTROL_BLOCK_JOINT 1
#include "../control_block/rc.h"
