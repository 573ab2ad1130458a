/** A pause that somebody can end. A signal would do the same, and make an error each time. */
export function createNap() {
  let isWoken = false;
  let end = (): void => {};
  return {
    wake(): void {
      isWoken = true;
      end();
    },
    /** As if nobody had woken it yet. */
    forget: (): void => void (isWoken = false),
    /** Waits so long or until it is woken; answers which, and does not wait where it was woken since the last time. */
    async take(ms: number): Promise<boolean> {
      if (!isWoken)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      const answer = isWoken;
      isWoken = false;
      return answer;
    },
  };
}
