/* orders: how strong must each atomic operation of the implementation be?
 *
 * For every one, in the source line that it stands in: the weakest memory orders with which every scenario
 * still passes, all others as they are; and whether it passes as a load and then a store. The search
 * itself weakens (rcx_limits.alter), so nothing is compiled again. What a compiler could do with the
 * weaker order, such as merge or move, is not in it.
 */
#ifndef RCX_ORDERS_H
#define RCX_ORDERS_H

/* explore orders [--executions N] [--processes N] [--csv FILE]
 * Exit: 0 every surplus is explained in the source, 1 one is not, or the program fails as it is, 2 wrong
 * use, 3 no addr2line, no memory. */
int rcx_orders_main(int argc, char **argv);

#endif
