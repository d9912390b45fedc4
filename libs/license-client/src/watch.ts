/** Checking again in time, for as long as a program runs. */
import { type Standing } from './standing.ts';

const secondsPerDay = 86_400;
/** What was refused, or could not be asked, is asked again so often. */
const afterRefusalSeconds = 60;
const shortestSeconds = 1;

/** When to check again: after half of the time that is left, when the certificate is due; once a day at least. */
export function nextCheckSeconds(standing: Standing): number {
  if (!standing.mayRun) return Math.max(afterRefusalSeconds, standing.retryAfterSeconds ?? 0);
  const left = standing.offlineSeconds;
  return left === null ? afterRefusalSeconds : Math.min(Math.max(left / 2, shortestSeconds), secondsPerDay);
}

/** Checks, tells, and goes on until it is stopped, after an error too. */
export function watchBy(
  check: () => Promise<Standing>,
  tell: (standing: Standing) => void,
  failed: (error: unknown) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const turn = async (): Promise<void> => {
    const outcome = await check().catch((error: unknown) => ({ error }));
    if (isStopped) return;
    const seconds = 'error' in outcome ? afterRefusalSeconds : nextCheckSeconds(outcome);
    timer = setTimeout(() => void turn(), seconds * 1_000).unref();
    if ('error' in outcome) failed(outcome.error);
    else tell(outcome);
  };
  void turn();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
