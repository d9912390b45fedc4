/** One call of a forge, and the interpretation of its answer. */
import { type ForgeFailure, parseUntrustedJson } from '@muster/contract';
import { getHeader } from '../rules/signatures.ts';

export interface ForgeRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The size in bytes above which the call fails; 1 MiB by default. */
  readonly maxAnswerBytes?: number;
}

export interface ForgeAnswer {
  readonly status: number;
  /** The headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a request to an address that users chose. Throws if the address is forbidden or no answer comes. */
export type SendForgeRequest = (request: ForgeRequest) => Promise<ForgeAnswer>;

/** A request that the forge refused. */
export class ForgeRefusal extends Error {
  /** The time before which the forge must not be called again; null if there is no such limit. */
  readonly quietUntil: string | null;
  /** True if a retry cannot succeed until people change something. */
  readonly isFinal: boolean;

  constructor(message: string, { quietUntil, isFinal }: Pick<ForgeRefusal, 'quietUntil' | 'isFinal'>) {
    super(message);
    this.name = 'ForgeRefusal';
    this.quietUntil = quietUntil;
    this.isFinal = isFinal;
  }
}

const maxMessageLength = 300;

const maxRetryDelayMs = 60 * 60_000;
const refusalRetryDelayMs = 15 * 60_000;
const defaultRetryDelayMs = 60_000;

/**
 * Returns the time until which the forge asks clients to wait; null if it does not ask. It reads the
 * rate-limit headers of GitHub, GitLab and Gitea, or GitHub's error text.
 */
export function findRetryTime(answer: ForgeAnswer, now: number): string | null {
  const { status } = answer;
  if (status !== 429 && status !== 403) return null;
  const after = Number(getHeader(answer.headers, 'retry-after') ?? Number.NaN);
  const isUsedUp = ['x-ratelimit-remaining', 'ratelimit-remaining'].some(
    (name) => getHeader(answer.headers, name) === '0',
  );
  const reset = Number(
    getHeader(answer.headers, 'x-ratelimit-reset') ??
      getHeader(answer.headers, 'ratelimit-reset') ??
      Number.NaN,
  );
  const millis = Number.isFinite(after)
    ? after * 1_000
    : isUsedUp && Number.isFinite(reset)
      ? reset * 1_000 - now
      : status === 429 || isUsedUp || /rate limit/i.test(answer.text)
        ? defaultRetryDelayMs
        : null;
  return millis === null
    ? null
    : new Date(now + Math.min(Math.max(millis, 1_000), maxRetryDelayMs)).toISOString();
}

/** Extracts the error text from a forge's answer: `message`, or `error`. */
function errorTextOf({ text }: ForgeAnswer): string {
  try {
    const { message, error } = parseUntrustedJson(text) as { message?: unknown; error?: unknown };
    const said = message ?? error;
    return typeof said === 'string' ? said : said === undefined ? '' : JSON.stringify(said);
  } catch {
    return '';
  }
}

/** Returns the response if it is successful or 304. Throws ForgeRefusal otherwise. */
export function requireSuccess(url: string, answer: ForgeAnswer, now = Date.now()): ForgeAnswer {
  const { status } = answer;
  if ((status >= 200 && status < 300) || status === 304) return answer;
  const words = errorTextOf(answer);
  const failureText = `${new URL(url).host} answered ${status}${words === '' ? '' : `: ${words}`}`;
  const patience = findRetryTime(answer, now);
  const isRefused = status === 401 || status === 403;
  throw new ForgeRefusal(failureText.slice(0, maxMessageLength), {
    quietUntil: patience ?? (isRefused ? new Date(now + refusalRetryDelayMs).toISOString() : null),
    isFinal: patience === null && status >= 300 && status < 500,
  });
}

/** Converts an error to the failure that the connection shows. */
export const toForgeFailure = (callKind: ForgeFailure['doing'], error: unknown): ForgeFailure => ({
  ...{ at: new Date().toISOString(), doing: callKind },
  message: (error instanceof Error ? error.message : String(error)).slice(0, maxMessageLength),
});
