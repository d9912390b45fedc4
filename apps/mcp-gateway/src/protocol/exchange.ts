/**
 * Requests of many clients through one server of the SDK. A server per request costs more than the request; one that
 * lives as long as the process keeps nothing of any client, because each request goes under a number of its own and its
 * notifications (among them cancellations, which name a request by its number) are not let in.
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
import { issueWords } from '@muster/registry';
import { z } from 'zod';
import { type Session } from './session.ts';

export interface Reply {
  readonly message: JSONRPCResultResponse | JSONRPCErrorResponse;
  /** The protocol refused it before any handler ran. */
  readonly isUnheard: boolean;
}

interface Open {
  readonly session: Session;
  readonly id: JSONRPCRequest['id'];
  readonly settle: (reply: Reply) => void;
  /** A handler took it up. */
  isHeard: boolean;
}

const internalError: number = ProtocolErrorCode.InternalError;

const Issues = z.array(
  z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
);
type SdkIssue = z.output<typeof Issues>[number];

/** The words for an issue of the SDK, which prints it without the value: only its message says that there was none. */
const wordsOf = (issue: SdkIssue): string =>
  issueWords({
    ...issue,
    input: issue.message.endsWith('received undefined') ? undefined : null,
  } as Parameters<typeof issueWords>[0]);

/** Issues of parameters as the SDK prints them, in words: `params.name must be text`. */
function inWords(message: string): string {
  const start = message.indexOf('[');
  try {
    const issues = Issues.parse(JSON.parse(message.slice(Math.max(0, start))));
    return issues.map((issue) => `${issue.path.join('.')} ${wordsOf(issue)}`).join('; ');
  } catch {
    return message;
  }
}

/** Of parameters that do not fit a method, the SDK says that it failed itself, and how as JSON. */
function inItsPlace(message: Reply['message']): Reply['message'] {
  if (!('error' in message)) return message;
  const { code, message: said } = message.error;
  const error = {
    ...message.error,
    code: code === internalError ? ProtocolErrorCode.InvalidParams : code,
    message: inWords(said),
  };
  return { ...message, error };
}

/** The SDK binds a server to the modern era by this transport's type; all that it does is done here otherwise. */
export class Exchange extends PerRequestHTTPServerTransport {
  readonly #classification: MessageClassification;
  readonly #open = new Map<number, Open>();
  #last = 0;

  constructor(classification: MessageClassification) {
    super({ classification });
    this.#classification = classification;
  }

  ask(message: JSONRPCRequest, session: Session): Promise<Reply> {
    return new Promise((settle) => {
      const open = { session, id: message.id, settle, isHeard: false };
      const number = (this.#last += 1);
      this.#open.set(number, open);
      this.onmessage?.({ ...message, id: number }, { classification: this.#classification });
    });
  }

  /** Whose request a handler is answering. */
  sessionOf(number: string | number): Session {
    const open = this.#open.get(Number(number));
    if (open === undefined) throw new Error('a handler runs for no request');
    open.isHeard = true;
    return open.session;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    // Requests and notifications of a server have nowhere to go here, and it makes none.
    if ('method' in message) return;
    const number = Number(message.id);
    const open = this.#open.get(number);
    if (open === undefined) return;
    this.#open.delete(number);
    const isUnheard = !open.isHeard;
    open.settle({ message: { ...(isUnheard ? inItsPlace(message) : message), id: open.id }, isUnheard });
  }
}
