/* What every side says and is told; it imports nothing, for the memory of sides is measured. */

/** A setting of a side, from the environment that it was started with. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing: sides are started by \`npm run bench\``);
  return value;
}

/** Says where a side listens. It ends with the process that started it. */
export function tellReady(url: string): void {
  process.send!({ url });
  process.once('disconnect', () => process.exit());
}
