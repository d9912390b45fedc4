/** One try of a webhook: signed as Standard Webhooks says, posted, and what came back said. */
import { Webhook } from 'standardwebhooks';
import { ForbiddenAddress, type Sender } from './sender.ts';

/** What is said of an endpoint in each try. */
export interface WebhookEndpoint {
  readonly url: string;
  /** The newest first; each signs. */
  readonly secrets: readonly string[];
}

export interface WebhookMessage {
  /** Its `webhook-id`: the same in every try. */
  readonly id: string;
  readonly body: string;
}

export interface Tried {
  readonly at: string;
  /** Null: nothing was answered. */
  readonly status: number | null;
  readonly ms: number;
  /** Null: delivered. */
  readonly error: string | null;
}

export interface WebhookAnswer {
  readonly tried: Tried;
  /** The first 2 KiB; null where nothing was answered. */
  readonly answer: string | null;
  /** Seconds that a receiver with too much to do (429, 503) asks to wait; null where it does not. */
  readonly retryAfterSeconds: number | null;
}

const longestError = 200;

/** A receiver may not put a delivery off for longer. */
const maxRetryAfterSeconds = 24 * 60 * 60;

/** Reads `Retry-After` of RFC 9110: seconds, or a date. */
export function retryAfterOf(status: number, header: string | undefined, now: number): number | null {
  if ((status !== 429 && status !== 503) || header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1_000;
  return Number.isFinite(seconds) ? Math.min(Math.max(0, Math.ceil(seconds)), maxRetryAfterSeconds) : null;
}

function headersOf(
  { secrets }: WebhookEndpoint,
  { id, body }: WebhookMessage,
  at: Date,
): Record<string, string> {
  if (secrets.length === 0) throw new Error('not sent: its secret cannot be read');
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, at, body));
  return {
    'content-type': 'application/json',
    'user-agent': 'Muster-Webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

/** What went wrong, without addresses of ours: callers read it. */
function wordsFor(error: unknown): string {
  if (error instanceof ForbiddenAddress) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return (code ?? message).slice(0, longestError);
}

/** Never throws: whatever went wrong is what came of the try. */
export async function sendWebhook(
  sender: Sender,
  endpoint: WebhookEndpoint,
  message: WebhookMessage,
): Promise<WebhookAnswer> {
  const at = new Date();
  const started = performance.now();
  const tried = (status: number | null, error: string | null): Tried => ({
    at: at.toISOString(),
    status,
    ms: Math.round(performance.now() - started),
    error,
  });
  try {
    const headers = headersOf(endpoint, message, at);
    const posted = await sender.post({ url: endpoint.url, headers, body: message.body });
    const { status, text } = posted;
    const isSuccess = status >= 200 && status < 300;
    return {
      tried: tried(status, isSuccess ? null : `answered ${status}`),
      answer: text,
      retryAfterSeconds: retryAfterOf(status, posted.headers['retry-after'], Date.now()),
    };
  } catch (error) {
    return { tried: tried(null, wordsFor(error)), answer: null, retryAfterSeconds: null };
  }
}
