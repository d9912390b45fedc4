/** Answers one request: passes the caller's identity to the protocol, and records the outcome. */
import { ApiError, unauthorized } from '@muster/registry';
import { describeSpan, durationMillis, elapsedMillis, sendError } from '@muster/http';
import {
  createRequestStateCodec,
  type JSONRPCRequest,
  type MessageClassification,
} from '@modelcontextprotocol/server';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Asker, askerOf, type Door, headerOf } from './door.ts';
import { digest, type Intent } from '../calls/intents.ts';
import { type View } from './narrowing.ts';
import { refusedText, tellProgress } from '../protocol/progress.ts';
import { withArguments } from '../calls/repair.ts';
import { json, statusOf, textOfReply } from './replies.ts';
import { type McpSession } from '../protocol/session.ts';

/** The progress and outcome of a request, in addition to its response. */
interface Course {
  /** Aborts when the client disconnects. */
  readonly left: AbortController;
  /** Aborts when the API rejects the token. */
  readonly refusal: AbortController;
  /** True if the API was called, which also verified the token. */
  isAsked: boolean;
  /** The tool that was called, for logs and metrics. */
  name: string;
  outcome: string;
  reason: string | undefined;
}

const courseOf = (reply: FastifyReply, { isFresh }: Asker): Course => {
  const left = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) left.abort();
  });
  const refusal = new AbortController();
  return { left, refusal, isAsked: isFresh, name: 'mcp', outcome: 'ok', reason: undefined };
};

interface Asked {
  readonly request: FastifyRequest;
  readonly message: JSONRPCRequest;
  readonly classification: MessageClassification;
  readonly view: View;
}

function sessionOf(
  door: Door,
  { request, message, classification, view }: Asked,
  course: Course,
  { intent, overload }: { readonly intent: Intent | undefined; readonly overload: ApiError | undefined },
): McpSession {
  const { secret, token, identity } = askerOf(request);
  const waiter = { token, ids: identity.ids };
  // A replay caused by the gateway's own retry is not reported to the client.
  const write = { again: false, replayed: false };
  const onReplay = () => (write.replayed ||= !write.again);
  const transport = door.transportFor(
    request,
    { token: secret, left: course.left.signal, waiter, onReplay },
    () => (write.again = true),
  );
  return {
    transport: (...call) => {
      course.isAsked = true;
      return transport(...call);
    },
    view,
    requestId: request.id,
    version: classification.revision ?? headerOf(request, 'mcp-protocol-version'),
    codec: createRequestStateCodec({ key: digest(secret, 'request state') }),
    intent: intent ?? { key: '', isOwn: false },
    isReplay: () => write.replayed,
    ...{ identity, overload },
    refused: () => {
      door.identities.forget(token);
      course.refusal.abort();
    },
    called: (tool, error) => {
      course.name = tool;
      if (error === undefined) return;
      course.outcome = error.code;
      course.reason = error.details?.reason ?? error.code;
    },
    fault: (error) => {
      door.options.logger.error({ err: error, requestId: request.id, method: message.method }, 'fault');
    },
  };
}

/** Records metrics, the span and one log line for the request. */
function tell(door: Door, { request, message, classification }: Asked, course: Course): void {
  const { metrics, logger } = door.options;
  const { refusal, name, outcome, reason } = course;
  request.operation = name;
  // A call with a rejected token is counted by the metrics of the HTTP response instead.
  if (reason !== undefined && !refusal.signal.aborted) metrics.failed(name, outcome, reason);
  door.count(name)(outcome, elapsedMillis(request) / 1_000);
  describeSpan(name === 'mcp' ? message.method : `${message.method} ${name}`, { 'muster.outcome': outcome });
  logger.info(
    {
      requestId: request.id,
      method: message.method,
      era: classification.revision ?? classification.era,
      ...(name !== 'mcp' && { tool: name }),
      ...askerOf(request).identity.ids,
      outcome,
      ...(reason !== undefined && { reason }),
      durationMs: durationMillis(request),
    },
    'mcp',
  );
}

/**
 * Checks the rate limit. Returns the error for a tool call, whose result then contains it; throws for other
 * messages, which get an HTTP error.
 */
async function overloadOf(door: Door, message: JSONRPCRequest, token: string): Promise<ApiError | undefined> {
  try {
    await door.admit(message, token);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && message.method === 'tools/call') return error;
    throw error;
  }
}

export async function answer(
  door: Door,
  reply: FastifyReply,
  { message: sent, ...others }: Asked,
): Promise<FastifyReply> {
  const asked = { ...others, message: withArguments(sent) };
  const { request, message, classification } = asked;
  const asker = askerOf(request);
  const overload = await overloadOf(door, message, asker.token);
  const course = courseOf(reply, asker);
  // A call that is not executed makes no request to the API, not even to verify its token.
  if (overload !== undefined) course.isAsked = true;
  const intent = door.intentOf(request, message, asker.token);
  const session = sessionOf(door, asked, course, { intent, overload });
  const progress = tellProgress(message, request.headers.accept ?? '', reply);
  const answered = await door.options.mcp.ask(message, classification, session);
  if (!course.isAsked && !(await door.holds(request))) session.refused();
  const isRefused = course.refusal.signal.aborted;
  if (isRefused) course.outcome = 'unauthorized';
  else if (course.left.signal.aborted) [course.outcome, course.reason] = ['left', undefined];
  else if ('error' in answered.message && course.outcome === 'ok') course.outcome = 'protocol_error';
  tell(door, asked, course);
  if (isRefused)
    return progress.end(refusedText(message)) ? reply : sendError(reply, unauthorized(), request.id);
  // A client that disconnected before the response was sent may repeat the call.
  if (intent !== undefined && !reply.raw.closed) {
    reply.raw.once('finish', () => {
      intent.delivered();
    });
  }
  const text = textOfReply(answered);
  return progress.end(text) ? reply : json(reply, statusOf(answered, classification), text);
}
