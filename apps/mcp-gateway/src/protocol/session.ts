/** The context of one request, passed to everything that answers it. */
import { type Client, createClient, type Transport } from '@muster/client';
import { type ApiError, type ErrorBody } from '@muster/contract';
import { type RequestStateCodec } from '@modelcontextprotocol/server';
import { restrictTransport } from '../calls/calls.ts';
import { type IdempotencyIntent } from '../calls/intents.ts';
import { type CallerIdentity } from '../tools/rights.ts';
import { type ConnectionView } from '../http/narrowing.ts';

export interface McpSession {
  /** Calls the API with the caller's token and retries temporary failures. */
  readonly transport: Transport;
  /** Uploads the content of an attachment to its signed address, which needs no token. */
  readonly putFile: (url: string, content: string) => Promise<void>;
  readonly view: ConnectionView;
  readonly requestId: string;
  /** The client's protocol revision; undefined if the client names none. */
  readonly protocolVersion: string | undefined;
  /**
   * Signs the request state that the client carries. A state is valid for ten minutes, and only for the same
   * caller.
   */
  readonly requestStateCodec: RequestStateCodec;
  /** Signs the ids of tasks for the caller. */
  readonly taskCodec: RequestStateCodec;
  /** The base of the Idempotency-Keys of the request's writes. */
  readonly intent: Pick<IdempotencyIntent, 'key' | 'isOwn'>;
  /** Returns true if a write was answered with the result of an earlier equal call. */
  readonly isReplay: () => boolean;
  readonly identity: CallerIdentity;
  /** The reason why a tool call is not executed: the token exceeded its rate limit. */
  readonly rateLimitError: ApiError | undefined;
  /** Called when the API rejected the token, so that the HTTP response is a 401. */
  readonly onTokenRejected: () => void;
  /** Called when a tool call has ended, with its error if it failed. */
  readonly onToolCalled: (tool: string, error?: ErrorBody) => void;
  /** Called on an unexpected fault of the gateway. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Creates an API client for everything that is not a tool. The connection's restrictions apply to it as well.
 */
export const createSessionClient = ({ transport, view }: McpSession): Client =>
  createClient(restrictTransport(transport, view));
