/** One attempt to deliver a webhook message, signed as Standard Webhooks specifies. */
import { type WebhookFormat } from '@muster/contract';
import { Webhook } from 'standardwebhooks';
import { chatHeaders } from './chat.ts';
import { ForbiddenAddress, type Sender } from './sender.ts';

/** The fields of an endpoint that each attempt needs. */
export interface WebhookEndpoint {
  readonly url: string;
  /** The format of the messages; `standard` by default. */
  readonly format?: WebhookFormat;
  /**
   * The signing secrets, newest first. The message is signed with each of them. For a chat service, the only secret is
   * the URL to which the message is sent.
   */
  readonly secrets: readonly string[];
}

export interface WebhookMessage {
  /** The `webhook-id`, which is the same in every attempt. */
  readonly id: string;
  readonly body: string;
}

export interface WebhookAttempt {
  readonly at: string;
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null;
  readonly ms: number;
  /** The failure; null if the message was delivered. */
  readonly error: string | null;
}

export interface WebhookAttemptResult {
  readonly tried: WebhookAttempt;
  /** The first 2 KiB of the answer; null if there was none. */
  readonly answer: string | null;
  /** The delay in seconds that an overloaded receiver (429, 503) requests; null if it requests none. */
  readonly retryAfterSeconds: number | null;
}

const maxErrorLength = 200;

/** The longest delay that a receiver can request. */
const maxRetryAfterSeconds = 24 * 60 * 60;

/** Reads the `Retry-After` header of RFC 9110, which is a number of seconds or a date. */
export function parseRetryAfter(status: number, header: string | undefined, now: number): number | null {
  if ((status !== 429 && status !== 503) || header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1_000;
  return Number.isFinite(seconds) ? Math.min(Math.max(0, Math.ceil(seconds)), maxRetryAfterSeconds) : null;
}

/** Returns the complete URL and the headers of the request. Throws if no secret could be decrypted. */
function requestOf(
  endpoint: WebhookEndpoint,
  message: WebhookMessage,
  at: Date,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const [secret] = endpoint.secrets;
  if (secret === undefined) throw new Error("not sent: the webhook's secret cannot be decrypted");
  return (endpoint.format ?? 'standard') === 'standard'
    ? { url: endpoint.url, headers: signedHeadersOf(endpoint, message, at) }
    : { url: secret, headers: chatHeaders };
}

function signedHeadersOf(
  { secrets }: WebhookEndpoint,
  { id, body }: WebhookMessage,
  at: Date,
): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, at, body));
  return {
    'content-type': 'application/json',
    'user-agent': 'Muster-Webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

/** Describes a failure without addresses of the internal network, because callers read it. */
function describeFailure(error: unknown): string {
  if (error instanceof ForbiddenAddress) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return (code ?? message).slice(0, maxErrorLength);
}

/** Delivers a message. It never throws: a failure is part of the result. */
export async function sendWebhook(
  sender: Sender,
  endpoint: WebhookEndpoint,
  message: WebhookMessage,
): Promise<WebhookAttemptResult> {
  const at = new Date();
  const started = performance.now();
  const tried = (status: number | null, error: string | null): WebhookAttempt => ({
    at: at.toISOString(),
    status,
    ms: Math.round(performance.now() - started),
    error,
  });
  try {
    const posted = await sender.post({ ...requestOf(endpoint, message, at), body: message.body });
    const { status, text } = posted;
    const isSuccess = status >= 200 && status < 300;
    return {
      tried: tried(status, isSuccess ? null : `answered ${status}`),
      answer: text,
      retryAfterSeconds: parseRetryAfter(status, posted.headers['retry-after'], Date.now()),
    };
  } catch (error) {
    return { tried: tried(null, describeFailure(error)), answer: null, retryAfterSeconds: null };
  }
}
