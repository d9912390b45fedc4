/** Filters of the activity and the audit trail, as stored in URLs. */

export const timeSpans = ['day', 'week', 'month'] as const;
export type TimeSpan = (typeof timeSpans)[number];

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

type UrlSearch = Readonly<Record<string, unknown>>;

/** Returns the valid fields of a URL's query, which anyone may have written, in its order. */
function validFields<Filter>(
  search: UrlSearch,
  validators: Readonly<Record<keyof Filter, (text: string) => boolean>>,
): Filter {
  const fits = new Map(Object.entries<(text: string) => boolean>(validators));
  const found = Object.entries(search).filter(
    ([field, value]) => typeof value === 'string' && fits.get(field)?.(value) === true,
  );
  return Object.fromEntries(found) as Filter;
}

const createMatcher = (pattern: RegExp) => (text: string) => pattern.test(text);
const isUuid = createMatcher(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i);
const isNotBlank = createMatcher(/\S/);

/** Returns true for an existing day; there is no 31st of June, for example. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const millis = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text);
}
export const isTimeSpan = (text: string): text is TimeSpan => (timeSpans as readonly string[]).includes(text);

export const parseActivityFilter = (search: UrlSearch): ActivityFilter =>
  validFields<ActivityFilter>(search, {
    actor: isUuid,
    kind: createMatcher(/^[a-z]+(\.[a-z]+)?$/i),
    project: createMatcher(/^[A-Z][A-Z\d]{1,9}$/i),
    story: createMatcher(/^[A-Z][A-Z\d]{1,9}-\d+$/i),
    since: (text) => isTimeSpan(text) || isDay(text),
  });

export const parseAuditFilter = (search: UrlSearch): AuditFilter =>
  validFields<AuditFilter>(search, {
    actor: isUuid,
    outcome: createMatcher(/^(allowed|denied)$/),
    operation: isNotBlank,
    from: isDay,
    to: isDay,
  });
