/** Changes nothing: it keeps nodes that install their own `derive_work_time`, which lets `manual_add` of a locked log change, from starting. */
export async function up(): Promise<void> {}
