/**
 * The operators' lists over all organizations. They call database functions that require the pass of a
 * platform token. Each function scans an index and examines a limited number of rows, so a page may be
 * incomplete and still have a cursor.
 */
import {
  CursorId,
  CursorText,
  decodeCursor,
  mostLookedAt,
  type Page,
  pageOfRows,
  type Query,
  sql,
} from '@muster/driver';
import {
  type Plan,
  type PlatformAccount,
  type PlatformOrg,
  type PlatformSubscription,
  type PlatformTeam,
} from '@muster/registry';
import { containing } from '@muster/tenancy';
import { z } from 'zod';

interface Params {
  readonly query?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A row that was examined, numbered from the start of the page. It contains an item if `fits` is true. */
interface Step {
  readonly nth: number;
  readonly fits: boolean;
}

interface List<Row extends Step, Item> {
  readonly name: 'accounts' | 'orgs' | 'teams' | 'subscriptions';
  /** Returns the sort key of a row, as it appears in a cursor. */
  readonly keyOf: (row: Row) => readonly string[];
  readonly key: z.ZodType<readonly string[]>;
  /** The parameters of the database function for the start of the list. */
  readonly start: readonly null[];
  readonly toItem: (row: Row) => Item;
  /** Joins two rows with the same key from different servers. By default the first one is used. */
  readonly join?: (one: Row, other: Row) => Row;
}

/** Sends a query to every database server, and returns the rows of each server. */
type Everywhere = <Row>(query: Query<Row>) => Promise<Row[][]>;

const listOf =
  <Row extends Step, Item>({ name, keyOf, key, start, toItem, join = (one) => one }: List<Row, Item>) =>
  async (everywhere: Everywhere, { query, limit, cursor }: Params): Promise<Page<Item>> => {
    const pattern = query === undefined ? null : containing(query);
    const parameters = [...(decodeCursor(cursor, key) ?? start), pattern, mostLookedAt, limit];
    const list = sql.word(`platform_${name}`);
    const servers = await everywhere(sql<Row>`select * from app.${list}(${sql.join(parameters)})`);
    const { found, lookedUpTo } = merged(servers, { limit, keyOf, join });
    return pageOfRows(found, limit, keyOf, toItem, lookedUpTo);
  };

const bytewise = (a: readonly string[], b: readonly string[]): number => {
  for (const [nth, text] of a.entries()) {
    const order = Buffer.compare(Buffer.from(text), Buffer.from(b[nth] ?? ''));
    if (order !== 0) return order;
  }
  return 0;
};

/**
 * Merges the rows of all servers in one order. The merge ends at the last position that every server has
 * examined. A row after that position could belong behind a row that another server has not yet examined.
 * Rows with the same key are joined.
 */
function merged<Row extends Step>(
  servers: readonly (readonly Row[])[],
  {
    limit,
    keyOf,
    join,
  }: {
    readonly limit: number;
    readonly keyOf: (row: Row) => readonly string[];
    readonly join: (one: Row, other: Row) => Row;
  },
): { readonly found: Row[]; readonly lookedUpTo: readonly string[] | undefined } {
  let end: readonly string[] | undefined;
  let isEndOfSearch = false;
  for (const rows of servers) {
    const signpost = rows.find(({ nth }) => nth === mostLookedAt);
    const last = signpost ?? (rows.length > limit ? rows.at(-1) : undefined);
    if (last === undefined || (end !== undefined && bytewise(keyOf(last), end) >= 0)) continue;
    end = keyOf(last);
    isEndOfSearch = signpost !== undefined;
  }
  const found: Row[] = [];
  const sorted = servers
    .flat()
    .filter((row) => row.fits && (end === undefined || bytewise(keyOf(row), end) <= 0))
    .sort((a, b) => bytewise(keyOf(a), keyOf(b)));
  for (const row of sorted) {
    const before = found.at(-1);
    if (before !== undefined && bytewise(keyOf(before), keyOf(row)) === 0)
      found[found.length - 1] = join(before, row);
    else found.push(row);
  }
  return { found, lookedUpTo: isEndOfSearch ? end : undefined };
}

const OneText = z.tuple([CursorText]);

interface AccountRow extends Step {
  readonly address: string;
  readonly email: string;
  readonly name: string;
  readonly memberships: PlatformAccount['memberships'];
}

export const listAccounts = listOf<AccountRow, PlatformAccount>({
  name: 'accounts',
  keyOf: ({ address }) => [address],
  key: OneText,
  start: [null],
  toItem: ({ email, name, memberships }) => ({ email, name, memberships }),
  join: (one, other) => {
    const known = new Set(one.memberships.map(({ orgId }) => orgId));
    const more = other.memberships.filter(({ orgId }) => !known.has(orgId));
    const memberships = [...one.memberships, ...more].sort((a, b) => (a.orgSlug < b.orgSlug ? -1 : 1));
    return { ...one, memberships };
  },
});

interface SubscriptionFacts {
  readonly plan: Plan;
  readonly status: PlatformSubscription['status'];
  readonly seats: number;
}

interface OrgRow extends Step, SubscriptionFacts {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly owner_email: string | null;
  readonly owner_name: string | null;
  readonly created_at: string;
  readonly deleted_at: string | null;
}

export const listOrgs = listOf<OrgRow, PlatformOrg>({
  name: 'orgs',
  keyOf: ({ slug }) => [slug],
  key: OneText,
  start: [null],
  toItem: (row) => ({
    id: row.id,
    slug: row.slug,
    name: row.name,
    plan: row.plan,
    status: row.status,
    seats: row.seats,
    owner:
      row.owner_email === null || row.owner_name === null
        ? null
        : { email: row.owner_email, name: row.owner_name },
    createdAt: row.created_at,
    deletedAt: row.deleted_at,
  }),
});

interface TeamRow extends Step {
  readonly sort_name: string;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly members: number;
  readonly created_at: string;
  readonly team_org_id: string;
  readonly org_slug: string;
  readonly org_name: string;
}

export const listTeams = listOf<TeamRow, PlatformTeam>({
  name: 'teams',
  keyOf: (row) => [row.sort_name, row.id],
  key: z.tuple([CursorText, CursorId]),
  start: [null, null],
  toItem: (row) => ({
    id: row.id,
    name: row.name,
    description: row.description || null,
    members: row.members,
    org: { id: row.team_org_id, slug: row.org_slug, name: row.org_name },
    createdAt: row.created_at,
  }),
});

interface SubscriptionRow extends Step, SubscriptionFacts {
  readonly slug: string;
  readonly org_id: string;
  readonly org_name: string;
  readonly current_period_end: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly version: number;
}

export const listSubscriptions = listOf<SubscriptionRow, PlatformSubscription>({
  name: 'subscriptions',
  keyOf: ({ slug }) => [slug],
  key: OneText,
  start: [null],
  toItem: (row) => ({
    org: { id: row.org_id, slug: row.slug, name: row.org_name },
    plan: row.plan,
    status: row.status,
    seats: row.seats,
    currentPeriodEnd: row.current_period_end,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
  }),
});
