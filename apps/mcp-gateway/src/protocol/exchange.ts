/**
 * Passes requests of many clients through one long-lived SDK server, because creating a server costs more
 * than answering a request. The server keeps no client state: each request gets an internal number, and
 * notifications never reach it. They include cancellations, which name a request by its number.
 */
import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type JSONRPCResultResponse,
  type MessageClassification,
  PerRequestHTTPServerTransport,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { describeIssue } from '@muster/contract';
import { z } from 'zod';
import { type McpSession } from './session.ts';

export interface RpcReply {
  readonly message: JSONRPCResultResponse | JSONRPCErrorResponse;
  /** True if the protocol layer rejected the request before any handler ran. */
  readonly isUnhandled: boolean;
}

interface OpenRequest {
  readonly session: McpSession;
  readonly id: JSONRPCRequest['id'];
  readonly settle: (reply: RpcReply) => void;
  /** True once a handler has started on the request. */
  isHeard: boolean;
}

const internalErrorCode: number = ProtocolErrorCode.InternalError;

const SdkIssues = z.array(
  z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
);
type SdkIssue = z.output<typeof SdkIssues>[number];

/**
 * Describes a validation issue from the SDK in words. The SDK omits the value, so only the issue's message
 * shows that the value was missing.
 */
const describeSdkIssue = (issue: SdkIssue): string =>
  describeIssue({
    ...issue,
    input: issue.message.endsWith('received undefined') ? undefined : null,
  } as Parameters<typeof describeIssue>[0]);

/** Rewrites the SDK's parameter issues from JSON to words: `params.name must be text`. */
function describeSdkIssues(message: string): string {
  const start = message.indexOf('[');
  try {
    const issues = SdkIssues.parse(JSON.parse(message.slice(Math.max(0, start))));
    return issues.map((issue) => `${issue.path.join('.')} ${describeSdkIssue(issue)}`).join('; ');
  } catch {
    return message;
  }
}

/**
 * Corrects the SDK's error for invalid parameters, which it reports as an internal error with JSON in the
 * message.
 */
function correctErrorCode(message: RpcReply['message']): RpcReply['message'] {
  if (!('error' in message)) return message;
  const { code, message: said } = message.error;
  const error = {
    ...message.error,
    code: code === internalErrorCode ? ProtocolErrorCode.InvalidParams : code,
    message: describeSdkIssues(said),
  };
  return { ...message, error };
}

/**
 * A transport that passes requests to a connected server. It extends this class only because the SDK detects
 * the modern revision by the type; all behavior is overridden.
 */
export class RequestExchange extends PerRequestHTTPServerTransport {
  readonly #classification: MessageClassification;
  readonly #open = new Map<number, OpenRequest>();
  #last = 0;

  constructor(classification: MessageClassification) {
    super({ classification });
    this.#classification = classification;
  }

  ask(message: JSONRPCRequest, session: McpSession): Promise<RpcReply> {
    return new Promise((settle) => {
      const open = { session, id: message.id, settle, isHeard: false };
      const number = (this.#last += 1);
      this.#open.set(number, open);
      this.onmessage?.({ ...message, id: number }, { classification: this.#classification });
    });
  }

  /** Returns the session of the request that a handler is answering. */
  sessionOf(number: string | number): McpSession {
    const open = this.#open.get(Number(number));
    if (open === undefined) throw new Error('a handler runs for no request');
    open.isHeard = true;
    return open.session;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    // This server sends no requests or notifications, and the transport could not deliver them.
    if ('method' in message) return;
    const number = Number(message.id);
    const open = this.#open.get(number);
    if (open === undefined) return;
    this.#open.delete(number);
    const isUnheard = !open.isHeard;
    open.settle({
      message: { ...(isUnheard ? correctErrorCode(message) : message), id: open.id },
      isUnhandled: isUnheard,
    });
  }
}
