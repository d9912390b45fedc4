/** Plain messages for schema violations, which replace those of zod. */
import { type z } from 'zod';

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const sizeUnits: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
};

function describeLimit(origin: string, bound: 'at least' | 'at most', limit: number | bigint): string {
  const unit = sizeUnits[origin];
  if (unit === undefined) return `must be ${bound} ${limit}`;
  if (bound === 'at least' && Number(limit) === 1) return 'must not be empty';
  return `must have ${bound} ${limit} ${Number(limit) === 1 ? unit[0] : unit[1]}`;
}

const formatMessages: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address',
  url: 'must be a URL',
  uuid: 'must be a UUID',
  datetime: 'must be an RFC 3339 time',
  date: 'must be a date such as 2026-11-21',
};

/** Joins the requirements of a union's options. A requirement that several options share is stated once. */
function describeAlternatives(options: readonly (readonly { readonly message: string }[])[]): string {
  const wants = new Set(options.flatMap((issues) => issues.slice(0, 1).map(({ message }) => message)));
  return wants.size > 0 && wants.size <= 3 ? [...wants].join(', or ') : 'matches none of the allowed forms';
}

/**
 * Describes the requirement that a value violates, as a sentence whose subject is the path. A message of the
 * schema itself is kept.
 */
export function describeIssue(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is required'
        : `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.inclusive === false
        ? `must be more than ${issue.minimum}`
        : describeLimit(issue.origin, 'at least', issue.minimum);
    case 'too_big':
      return issue.inclusive === false
        ? `must be less than ${issue.maximum}`
        : describeLimit(issue.origin, 'at most', issue.maximum);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return formatMessages[issue.format] ?? 'has an invalid format';
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.join(', ')}`;
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : describeAlternatives(issue.errors);
    case 'invalid_key':
      return 'has an invalid key';
    default:
      return 'is invalid';
  }
}

/** The zod option for parsing input whose issues are shown to callers: it replaces zod's messages by plain ones. */
export const plainIssueMessages = { error: describeIssue };
