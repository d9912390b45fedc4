/** Answers one request: passes the caller's identity to the protocol, and records the outcome. */
import { ApiError, unauthorized } from '@muster/contract';
import { describeSpan, durationMillis, elapsedMillis, sendError } from '@muster/http';
import {
  createRequestStateCodec,
  type JSONRPCRequest,
  type MessageClassification,
} from '@modelcontextprotocol/server';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type AuthenticatedCaller, authenticatedCallerOf, type RequestGate, headerOf } from './door.ts';
import { digest, type IdempotencyIntent } from '../calls/intents.ts';
import { type ConnectionView } from './narrowing.ts';
import { tokenRejectedMessage, startProgressNotifications } from '../protocol/progress.ts';
import { normalizeArguments } from '../calls/repair.ts';
import { sendJson, httpStatusOf, serializeReply } from './replies.ts';
import { type McpSession } from '../protocol/session.ts';
import { taskTtlSeconds } from '../protocol/tasks.ts';

/** The progress and outcome of a request, in addition to its response. */
interface RequestTracking {
  /** Aborts when the client disconnects. */
  readonly disconnected: AbortController;
  /** Aborts when the API rejects the token. */
  readonly tokenRejected: AbortController;
  /** True if the API was called, which also verified the token. */
  isApiCalled: boolean;
  /** The tool that was called, for logs and metrics. */
  toolName: string;
  outcome: string;
  reason: string | undefined;
}

const trackRequest = (reply: FastifyReply, { isJustVerified }: AuthenticatedCaller): RequestTracking => {
  const left = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) left.abort();
  });
  const refusal = new AbortController();
  return {
    disconnected: left,
    tokenRejected: refusal,
    isApiCalled: isJustVerified,
    toolName: 'mcp',
    outcome: 'ok',
    reason: undefined,
  };
};

interface IncomingRequest {
  readonly request: FastifyRequest;
  readonly message: JSONRPCRequest;
  readonly classification: MessageClassification;
  readonly view: ConnectionView;
}

function createSession(
  gate: RequestGate,
  { request, message, classification, view }: IncomingRequest,
  course: RequestTracking,
  {
    intent,
    overload,
  }: { readonly intent: IdempotencyIntent | undefined; readonly overload: ApiError | undefined },
): McpSession {
  const { secret, tokenDigest, identity } = authenticatedCallerOf(request);
  const waiter = { token: tokenDigest, ids: identity.ids };
  // A replay caused by the gateway's own retry is not reported to the client.
  const write = { again: false, replayed: false };
  const onReplay = () => (write.replayed ||= !write.again);
  const transport = gate.transportFor(
    request,
    {
      ...{ token: secret, isMcp: true, disconnectSignal: course.disconnected.signal },
      ...{ longPollCaller: waiter, onReplay },
    },
    () => (write.again = true),
  );
  return {
    transport: (...call) => {
      course.isApiCalled = true;
      return transport(...call);
    },
    putFile: (url, content) => gate.options.api.putFile(url, content),
    view,
    requestId: request.id,
    protocolVersion: classification.revision ?? headerOf(request, 'mcp-protocol-version'),
    requestStateCodec: createRequestStateCodec({ key: digest(secret, 'request state') }),
    taskCodec: createRequestStateCodec({ key: digest(secret, 'task'), ttlSeconds: taskTtlSeconds }),
    intent: intent ?? { key: '', isOwn: false },
    isReplay: () => write.replayed,
    ...{ identity, rateLimitError: overload },
    onTokenRejected: () => {
      gate.identities.forget(tokenDigest);
      course.tokenRejected.abort();
    },
    onToolCalled: (tool, error) => {
      course.toolName = tool;
      if (error === undefined) return;
      course.outcome = error.code;
      course.reason = error.details?.reason ?? error.code;
    },
    onFault: (error) => {
      gate.options.logger.error({ err: error, requestId: request.id, method: message.method }, 'fault');
    },
  };
}

/** Records metrics, the span and one log line for the request. */
function recordOutcome(
  gate: RequestGate,
  { request, message, classification }: IncomingRequest,
  course: RequestTracking,
): void {
  const { metrics, logger } = gate.options;
  const { tokenRejected, toolName, outcome, reason } = course;
  request.operation = toolName;
  // A call with a rejected token is counted by the metrics of the HTTP response instead.
  if (reason !== undefined && !tokenRejected.signal.aborted) metrics.countError(toolName, outcome, reason);
  gate.count(toolName)(outcome, elapsedMillis(request) / 1_000);
  describeSpan(toolName === 'mcp' ? message.method : `${message.method} ${toolName}`, {
    'muster.outcome': outcome,
  });
  logger.info(
    {
      requestId: request.id,
      method: message.method,
      era: classification.revision ?? classification.era,
      ...(toolName !== 'mcp' && { tool: toolName }),
      ...authenticatedCallerOf(request).identity.ids,
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
async function checkRateLimit(
  gate: RequestGate,
  message: JSONRPCRequest,
  token: string,
): Promise<ApiError | undefined> {
  try {
    await gate.applyRateLimit(message, token);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && message.method === 'tools/call') return error;
    throw error;
  }
}

export async function answerRequest(
  gate: RequestGate,
  reply: FastifyReply,
  { message: sent, ...others }: IncomingRequest,
): Promise<FastifyReply> {
  const asked = { ...others, message: normalizeArguments(sent) };
  const { request, message, classification } = asked;
  const caller = authenticatedCallerOf(request);
  const overload = await checkRateLimit(gate, message, caller.tokenDigest);
  const course = trackRequest(reply, caller);
  // A call that is not executed makes no request to the API, not even to verify its token.
  if (overload !== undefined) course.isApiCalled = true;
  const intent = gate.intentOf(request, message, caller.tokenDigest);
  const session = createSession(gate, asked, course, { intent, overload });
  const progress = startProgressNotifications(message, request.headers.accept ?? '', reply);
  const answered = await gate.options.mcp.handleRequest(message, classification, session);
  if (!course.isApiCalled && !(await gate.isTokenAccepted(request))) session.onTokenRejected();
  const isRefused = course.tokenRejected.signal.aborted;
  if (isRefused) course.outcome = 'unauthorized';
  else if (course.disconnected.signal.aborted) [course.outcome, course.reason] = ['left', undefined];
  else if ('error' in answered.message && course.outcome === 'ok') course.outcome = 'protocol_error';
  recordOutcome(gate, asked, course);
  if (isRefused)
    return progress.finishWith(tokenRejectedMessage(message))
      ? reply
      : sendError(reply, unauthorized(), request.id);
  // A client that disconnected before the response was sent may repeat the call.
  if (intent !== undefined && !reply.raw.closed)
    reply.raw.once('finish', () => {
      intent.markDelivered();
    });
  const text = serializeReply(answered);
  return progress.finishWith(text) ? reply : sendJson(reply, httpStatusOf(answered, classification), text);
}
