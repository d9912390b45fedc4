/** One request of a client, as everything that answers it sees it. */
import { type Transport } from '@muster/client';
import { type ErrorBody } from '@muster/registry';
import { type Identity } from './rights.ts';
import { type View } from './narrowing.ts';

export interface Session {
  /** With the caller's token; tries again what passes. */
  readonly transport: Transport;
  readonly view: View;
  readonly requestId: string;
  /** From which the Idempotency-Keys of its writes are derived. */
  readonly key: string;
  readonly identity: () => Promise<Identity>;
  /** Told when the API refused the token, so that HTTP says it too. */
  readonly refused: () => void;
  /** Told how a call of a tool ended: with an error, or well. */
  readonly called: (tool: string, error?: ErrorBody) => void;
  /** Told of a fault of ours. */
  readonly fault: (error: unknown) => void;
}
