/**
 * Adds details to the API's refusals: the parameter that names a missing record, and the list of valid
 * parameters.
 */
import { MusterError } from '@muster/client';
import { type ErrorBody, type Issue } from '@muster/contract';
import { type AnswerBody } from '../answers/answers.ts';
import { unknownParameterMessage } from './issues.ts';
import { type ToolSchema, removeNull } from '../tools/schemas.ts';
import { type OperationTool } from '../tools/tools.ts';

const isRecordReference = ({ format, 'x-muster-ref': ref }: ToolSchema): boolean =>
  format === 'uuid' || ref !== undefined;

/**
 * Lists the paths at which the value refers to records: `storyId`, `blocked.unblockerMemberId`,
 * `blockedBy.1`.
 */
function findReferencePaths(
  fieldSchema: ToolSchema,
  value: unknown,
  path: readonly string[] = [],
): string[][] {
  const schema = removeNull(fieldSchema);
  const options = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as ToolSchema[]) : [schema];
  if (typeof value === 'string') return options.some(isRecordReference) ? [[...path]] : [];
  if (typeof value !== 'object' || value === null) return [];
  const within = ({ items, properties = {} }: ToolSchema, name: string): ToolSchema =>
    Array.isArray(value)
      ? ((items ?? {}) as ToolSchema)
      : Object.hasOwn(properties, name)
        ? (properties[name] ?? {})
        : {};
  return Object.entries(value).flatMap(([name, field]) =>
    options.flatMap((option) => findReferencePaths(within(option, name), field, [...path, name])),
  );
}

/**
 * Lists the parameters that may refer to the missing record. If the API names no path, it found the target
 * record of the call, so the missing record is in another parameter. Several references in one list are
 * reported as the list.
 */
function pathsOfMissingRecord(
  { fullParams, operation: { target } }: OperationTool,
  params: AnswerBody,
): string[] {
  const all = findReferencePaths(fullParams, params);
  const others = all.filter(([name]) => name !== target);
  const left = others.length > 0 ? others : all;
  if (left.length === 1) return left.map((path) => path.join('.'));
  return [...new Set(left.map((path) => path.filter((part) => !/^\d+$/.test(part)).join('.')))];
}

/** Returns true if the value looks like a token that the API gave out, rather than one that a model made up. */
const isLeaseToken = (value: unknown): boolean => typeof value === 'string' && /^lse_\d+_\w+$/.test(value);
const noLeaseTokenMessage = 'is not a lease token; copy the newest one that start_work or next_work returned';

function enrichDetails(body: ErrorBody, tool: OperationTool, params: AnswerBody): ErrorBody['details'] {
  const { code, details } = body;
  if (code === 'not_found' && details?.['path'] === undefined) {
    const paths = pathsOfMissingRecord(tool, params);
    const [path] = paths;
    return path === undefined ? details : { ...details, ...(paths.length > 1 ? { paths } : { path }) };
  }
  if (details?.reason === 'stale_lease' && !isLeaseToken(params['leaseToken']))
    return { ...details, issues: [{ path: 'leaseToken', message: noLeaseTokenMessage }] };
  if (details?.issues === undefined) return details;
  const { properties } = tool.fullParams;
  const isUnknown = ({ path }: Issue): boolean => path in params && !Object.hasOwn(properties, path);
  const message = unknownParameterMessage(Object.keys(tool.tool.inputSchema.properties ?? {}));
  return {
    ...details,
    issues: details.issues.map((issue) => (isUnknown(issue) ? { ...issue, message } : issue)),
  };
}

/** Returns the failure with added details: the path of the missing record, or the valid parameters. */
export function explainFailure(failure: unknown, tool: OperationTool, params: AnswerBody): unknown {
  if (!(failure instanceof MusterError)) return failure;
  const details = enrichDetails(failure.body, tool, params);
  if (details === failure.body.details || details === undefined) return failure;
  return new MusterError({ ...failure.body, details }, failure.retryAfterSeconds);
}

/**
 * Translates paths in a step's parameters into the parameters of the macro. Where the names differ, it looks
 * for an argument with the same value.
 */
export function translateFailurePaths(
  failure: unknown,
  macroArgs: AnswerBody,
  stepParams: AnswerBody,
): unknown {
  if (!(failure instanceof MusterError)) return failure;
  const { details } = failure.body;
  const renamed = (path: string): string => {
    const [first = '', ...inner] = path.split(/[.[]/);
    if (first in macroArgs) return path;
    const value = inner.reduce<unknown>(
      (record, part) => (record as Readonly<Record<string, unknown>> | undefined)?.[part.replace(']', '')],
      stepParams[first],
    );
    return value === undefined
      ? path
      : (Object.keys(macroArgs).find((name) => macroArgs[name] === value) ?? path);
  };
  const path = details?.['path'];
  const issues = details?.issues?.map((issue) => ({ ...issue, path: renamed(issue.path) }));
  if (details === undefined || (typeof path !== 'string' && issues === undefined)) return failure;
  const told = {
    ...details,
    ...(typeof path === 'string' && { path: renamed(path) }),
    ...(issues !== undefined && { issues }),
  };
  return new MusterError({ ...failure.body, details: told }, failure.retryAfterSeconds);
}
