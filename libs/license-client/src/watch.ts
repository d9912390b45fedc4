/** Repeats the check at suitable intervals while a program runs. */
import { type Standing } from './standing.ts';

const secondsPerDay = 86_400;
/** The delay in seconds before a refused or unanswered check is repeated. */
const retrySeconds = 60;
const minCheckSeconds = 1;

/**
 * Returns the delay in seconds until the next check, at most one day. It is half of the time for which the
 * certificate is still valid. At that moment the certificate is due for renewal.
 */
export function nextCheckSeconds(standing: Standing): number {
  if (!standing.mayRun) return Math.max(retrySeconds, standing.retryAfterSeconds ?? 0);
  const left = standing.offlineSeconds;
  return left === null ? retrySeconds : Math.min(Math.max(left / 2, minCheckSeconds), secondsPerDay);
}

/** Repeats the check and reports each result until the returned function is called. An error does not end this. */
export function repeatChecks(
  check: () => Promise<Standing>,
  onStanding: (standing: Standing) => void,
  onError: (error: unknown) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const turn = async (): Promise<void> => {
    const outcome = await check().catch((error: unknown) => ({ error }));
    if (isStopped) return;
    const seconds = 'error' in outcome ? retrySeconds : nextCheckSeconds(outcome);
    timer = setTimeout(() => void turn(), seconds * 1_000).unref();
    if ('error' in outcome) onError(outcome.error);
    else onStanding(outcome);
  };
  void turn();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
