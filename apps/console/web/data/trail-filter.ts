/** Filters of the activity and the audit trail, as stored in URLs. */

export const spans = ['day', 'week', 'month'] as const;
export type Span = (typeof spans)[number];

export interface ActivityFilter {
  /** Id of a member or agent. */
  readonly actor?: string;
  /** A kind of event, or the name of a group of kinds. */
  readonly kind?: string;
  readonly project?: string;
  readonly story?: string;
  /** The start of the filtered period: a day, or a span that ends now. */
  readonly since?: string;
}

export interface AuditFilter {
  readonly actor?: string;
  readonly outcome?: 'allowed' | 'denied';
  readonly operation?: string;
  /** The first and last day, both inclusive. */
  readonly from?: string;
  readonly to?: string;
}

type Search = Readonly<Record<string, unknown>>;

/** Returns the valid fields of a URL's query, which anyone may have written. */
function validFields<Filter>(
  search: Search,
  tests: Readonly<Record<keyof Filter, (text: string) => boolean>>,
): Filter {
  const found = Object.entries<(text: string) => boolean>(tests).flatMap(([field, fits]) => {
    const value = search[field];
    return typeof value === 'string' && fits(value) ? [[field, value]] : [];
  });
  return Object.fromEntries(found) as Filter;
}

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);
const isId = matches(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i);
const isNotBlank = matches(/\S/);

/** Returns true for an existing day; there is no 31st of June, for example. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const millis = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text);
}
export const isSpan = (text: string): text is Span => (spans as readonly string[]).includes(text);

export const activityFilterOf = (search: Search): ActivityFilter =>
  validFields<ActivityFilter>(search, {
    actor: isId,
    kind: matches(/^[a-z]+(\.[a-z]+)?$/i),
    project: matches(/^[A-Z][A-Z\d]{1,9}$/i),
    story: matches(/^[A-Z][A-Z\d]{1,9}-\d+$/i),
    since: (text) => isSpan(text) || isDay(text),
  });

export const auditFilterOf = (search: Search): AuditFilter =>
  validFields<AuditFilter>(search, {
    actor: isId,
    outcome: matches(/^(allowed|denied)$/),
    operation: isNotBlank,
    from: isDay,
    to: isDay,
  });
