/** One request of a client, as everything that answers it sees it. */
import { type Client, createClient, type Transport } from '@muster/client';
import { type ApiError, type ErrorBody } from '@muster/registry';
import { type RequestStateCodec } from '@modelcontextprotocol/server';
import { within } from '../calls/calls.ts';
import { type Intent } from '../calls/intents.ts';
import { type Identity } from '../tools/rights.ts';
import { type View } from '../http/narrowing.ts';

export interface Session {
  /** With the caller's token; tries again what passes. */
  readonly transport: Transport;
  readonly view: View;
  readonly requestId: string;
  /** The revision of the protocol that the client says it speaks; undefined where it says none. */
  readonly version: string | undefined;
  /** Seals what goes along with the client, for the caller alone and for ten minutes. */
  readonly codec: RequestStateCodec;
  /** From which the Idempotency-Keys of its writes are derived. */
  readonly intent: Pick<Intent, 'key' | 'isOwn'>;
  /** Whether a write was answered by what an earlier equal call had done. */
  readonly isReplay: () => boolean;
  readonly identity: Identity;
  /** Why a call of a tool is not carried out now: too many calls of this token. */
  readonly overload: ApiError | undefined;
  /** Told when the API refused the token, so that HTTP says it too. */
  readonly refused: () => void;
  /** Told how a call of a tool ended: with an error, or well. */
  readonly called: (tool: string, error?: ErrorBody) => void;
  /** Told of a fault of ours. */
  readonly fault: (error: unknown) => void;
}

/** What is no tool asks the API by this, and so is narrowed as tools are. */
export const clientOf = ({ transport, view }: Session): Client => createClient(within(transport, view));
