/** One try: signs a message as Standard Webhooks says, posts it, and says what came back. */
import { type ReadyMessage, type SentMessage } from '@muster/notifications';
import { Webhook } from 'standardwebhooks';
import { ForbiddenAddress, type Sender } from '@muster/outbound/sender';

/** What is said of an endpoint in each try. */
export interface Endpoint {
  readonly url: string;
  /** The newest first; each signs. */
  readonly secrets: readonly string[];
}

const longestError = 200;

export function headersOf(
  { secrets }: Endpoint,
  { eventId, body }: ReadyMessage,
  at: Date,
): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign(eventId, at, body));
  return {
    'content-type': 'application/json',
    'user-agent': 'Muster-Webhooks',
    'webhook-id': eventId,
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
export async function send(sender: Sender, endpoint: Endpoint, message: ReadyMessage): Promise<SentMessage> {
  const at = new Date();
  const started = performance.now();
  const tried = (status: number | null, error: string | null): SentMessage['tried'] => ({
    at: at.toISOString(),
    status,
    ms: Math.round(performance.now() - started),
    error,
  });
  try {
    const headers = headersOf(endpoint, message, at);
    const { status, text } = await sender.post({ url: endpoint.url, headers, body: message.body });
    const isSuccess = status >= 200 && status < 300;
    return { message, tried: tried(status, isSuccess ? null : `answered ${status}`), answer: text };
  } catch (error) {
    return { message, tried: tried(null, wordsFor(error)), answer: null };
  }
}
