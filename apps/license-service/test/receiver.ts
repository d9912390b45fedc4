/** A webhook receiver that accepts only signed messages and answers as configured. */
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export interface ReceivedWebhook {
  readonly id: string;
  readonly type: string;
  readonly data: {
    readonly license: { readonly id: string; readonly state: string; readonly expiresAt: string | null };
    readonly actor: string;
    readonly details: Readonly<Record<string, unknown>>;
  };
}

export interface LicenseWebhookReceiver {
  readonly url: string;
  /** The messages whose signature matched one of `secrets`, in the order of their arrival. */
  readonly receivedWebhooks: ReceivedWebhook[];
  readonly secrets: string[];
  /** The status that the receiver answers with. */
  status: number;
  /** The value of the header `Retry-After` in the answer; undefined sends no such header. */
  retryAfter: string | undefined;
  /** The promise that the receiver waits for before it answers. */
  holdUntil: Promise<unknown> | undefined;
  /** The number of messages whose signature matched none of `secrets`. */
  refusedCount: number;
  readonly close: () => void;
}

export async function startReceiver(): Promise<LicenseWebhookReceiver> {
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const headers = request.headers as Record<string, string>;
      const verified = made.secrets.some((secret) => {
        try {
          new Webhook(secret).verify(body, headers);
          return true;
        } catch {
          return false;
        }
      });
      if (!verified) made.refusedCount += 1;
      else if (made.status === 200)
        made.receivedWebhooks.push({
          ...(JSON.parse(body) as ReceivedWebhook),
          id: headers['webhook-id'] ?? '',
        });
      await made.holdUntil;
      if (made.retryAfter !== undefined) response.setHeader('retry-after', made.retryAfter);
      response.writeHead(verified ? made.status : 401).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const made: LicenseWebhookReceiver = {
    ...{
      receivedWebhooks: [],
      secrets: [],
      status: 200,
      holdUntil: undefined,
      retryAfter: undefined,
      refusedCount: 0,
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    close: () => void server.close(),
  };
  return made;
}
