/**
 * The time as the service has it, which is what leases end by and what everything else is dated with. A browser's clock may be
 * minutes off.
 */

/** What a call's way takes, and how clocks that are kept right differ. */
const toleratedMillis = 1_000;

let aheadMillis = 0;

/** What the service said its time was, in an answer that was asked for and came at those moments of the browser's clock. */
export function hearTime(said: string, askedMillis: number, cameMillis: number): void {
  const found = Date.parse(said) - (askedMillis + cameMillis) / 2;
  const uncertain = (cameMillis - askedMillis) / 2 + toleratedMillis;
  aheadMillis = Math.abs(found) > uncertain ? found : 0;
}

/** Milliseconds since 1970. */
export const timeNow = (): number => Date.now() + aheadMillis;
