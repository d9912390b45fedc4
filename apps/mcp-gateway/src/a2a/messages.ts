/**
 * Messages and errors of the A2A protocol 1.0 in its JSON-RPC binding. Field names and values are those of
 * its specification (a2a-protocol.org).
 */
import { internalError } from '@muster/contract';
import { z } from 'zod';
import { errorBodyOf } from '../answers/failures.ts';

export const a2aVersion = '1.0';

/** Codes of the protocol's own errors, by the reason that the error details repeat. */
const errorCodes = {
  TASK_NOT_FOUND: -32_001,
  TASK_NOT_CANCELABLE: -32_002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32_003,
  UNSUPPORTED_OPERATION: -32_004,
  CONTENT_TYPE_NOT_SUPPORTED: -32_005,
  VERSION_NOT_SUPPORTED: -32_009,
} as const;

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: readonly object[];
}

const errorInfo = (reason: string, domain: string, metadata: object = {}) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  ...{ reason, domain, metadata },
});

/** An error of JSON-RPC, such as an unknown method. */
export class RpcFailure extends Error {
  readonly rpc: RpcError;

  constructor(code: number, message: string, data: readonly object[] = []) {
    super(message);
    this.name = 'RpcFailure';
    this.rpc = { code, message, data };
  }
}

/** An error of the protocol. */
export class A2aError extends RpcFailure {
  constructor(reason: keyof typeof errorCodes, message: string) {
    super(errorCodes[reason], message, [errorInfo(reason, 'a2a-protocol.org')]);
    this.name = 'A2aError';
  }
}

export const invalidParams = (
  issues: readonly { readonly path: string; readonly message: string }[],
): RpcFailure =>
  new RpcFailure(-32_602, 'Invalid parameters', [
    {
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: issues.map(({ path, message }) => ({ field: path, description: message })),
    },
  ]);

/** Code of the API's other refusals, such as missing rights. */
const serverErrorCode = -32_000;

/** Converts a failure of a call into an error of JSON-RPC. */
export function toRpcError(failure: unknown, requestId: string): RpcError {
  if (failure instanceof RpcFailure) return failure.rpc;
  const body = errorBodyOf(failure, requestId) ?? internalError().toBody(requestId);
  const { issues } = body.details ?? {};
  if (body.status === 400 && issues !== undefined) return invalidParams(issues).rpc;
  const code = body.status >= 500 ? -32_603 : serverErrorCode;
  const reason = (body.details?.reason ?? body.code).toUpperCase();
  return { code, message: body.message, data: [errorInfo(reason, 'muster', { requestId })] };
}

/** Clients built on Protocol Buffers may send empty text for a field that is not set. */
const OptionalText = z
  .string()
  .optional()
  .transform((text) => (text === '' ? undefined : text));
const Metadata = z.looseObject({
  projectId: OptionalText,
  agentId: OptionalText,
  memberId: OptionalText,
});

const Part = z.looseObject({
  text: z.string().optional(),
  raw: z.string().optional(),
  url: z.string().optional(),
  data: z.unknown().optional(),
});

export const SendMessageParams = z.looseObject({
  message: z.looseObject({
    messageId: z.string().min(1).max(255),
    contextId: OptionalText,
    taskId: OptionalText,
    role: z.enum(['ROLE_USER', 'ROLE_UNSPECIFIED']),
    parts: z.array(Part).min(1),
    metadata: Metadata.optional(),
  }),
  configuration: z
    .looseObject({
      historyLength: z.int().min(0).optional(),
      returnImmediately: z.boolean().optional(),
      taskPushNotificationConfig: z.unknown().optional(),
    })
    .optional(),
});
export type SendMessageParams = z.output<typeof SendMessageParams>;

export const TaskParams = z.looseObject({
  id: z.string().min(1),
  historyLength: z.int().min(0).optional(),
});

export const taskStates = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
] as const;
export type TaskState = (typeof taskStates)[number];

export const isTerminal = (state: TaskState): boolean =>
  state === 'TASK_STATE_COMPLETED' || state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_CANCELED';

export const ListTasksParams = z.looseObject({
  contextId: OptionalText,
  status: z
    .enum([...taskStates, 'TASK_STATE_UNSPECIFIED', 'TASK_STATE_REJECTED', 'TASK_STATE_AUTH_REQUIRED'])
    .optional(),
  pageSize: z.int().min(1).max(100).optional(),
  pageToken: OptionalText,
  historyLength: z.int().min(0).optional(),
  statusTimestampAfter: z.iso.datetime().optional(),
  includeArtifacts: z.boolean().optional(),
});

/** Returns the text of a message. Files are refused, because stories are text; links stay links. */
export function textOfParts(parts: SendMessageParams['message']['parts']): string {
  const texts = parts.map(({ text, url, raw, data }) => {
    if (text !== undefined) return text;
    if (url !== undefined) return url;
    if (raw !== undefined || data === undefined)
      throw new A2aError(
        'CONTENT_TYPE_NOT_SUPPORTED',
        'Send text, data or a url; raw content is not supported.',
      );
    return `\`\`\`json\n${JSON.stringify(data, null, 2)}\n\`\`\``;
  });
  return texts.join('\n\n').trim();
}
