/**
 * The operators' lists over all organizations. They call database functions that require proof of a checked
 * platform token. Each function scans an index and examines a limited number of rows, so a page may be
 * incomplete and still have a cursor.
 */
import {
  CursorId,
  CursorText,
  decodeCursor,
  maxSearchedRows,
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
} from '@muster/contract';
import { containsPattern } from '@muster/tenancy';
import { z } from 'zod';

interface PlatformListParams {
  readonly query?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A row that was examined, numbered from the start of the page. It contains an item if `fits` is true. */
interface ScannedRow {
  readonly nth: number;
  readonly fits: boolean;
}

interface PlatformList<Row extends ScannedRow, Item> {
  readonly name: 'accounts' | 'orgs' | 'teams' | 'subscriptions';
  /** Returns the sort key of a row, as it appears in a cursor. */
  readonly getSortKey: (row: Row) => readonly string[];
  readonly cursorSchema: z.ZodType<readonly string[]>;
  /** The parameters of the database function for the start of the list. */
  readonly startParameters: readonly null[];
  readonly toItem: (row: Row) => Item;
  /** Joins two rows with the same key from different servers. By default the first one is used. */
  readonly joinRows?: (one: Row, other: Row) => Row;
}

/** Sends a query to every database server, and returns the rows of each server. */
type QueryAllServers = <Row>(query: Query<Row>) => Promise<Row[][]>;

const createPlatformList =
  <Row extends ScannedRow, Item>({
    name,
    getSortKey,
    cursorSchema,
    startParameters,
    toItem,
    joinRows = (one) => one,
  }: PlatformList<Row, Item>) =>
  async (
    queryAllServers: QueryAllServers,
    { query, limit, cursor }: PlatformListParams,
  ): Promise<Page<Item>> => {
    const pattern = query === undefined ? null : containsPattern(query);
    const parameters = [
      ...(decodeCursor(cursor, cursorSchema) ?? startParameters),
      pattern,
      maxSearchedRows,
      limit,
    ];
    const list = sql.word(`platform_${name}`);
    const servers = await queryAllServers(sql<Row>`select * from app.${list}(${sql.join(parameters)})`);
    const { matchingRows: found, scannedUpTo: lookedUpTo } = mergeServerRows(servers, {
      limit,
      keyOf: getSortKey,
      join: joinRows,
    });
    return pageOfRows(found, limit, getSortKey, toItem, lookedUpTo);
  };

const compareBytewise = (a: readonly string[], b: readonly string[]): number => {
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
function mergeServerRows<Row extends ScannedRow>(
  rowsByServer: readonly (readonly Row[])[],
  {
    limit,
    keyOf,
    join,
  }: {
    readonly limit: number;
    readonly keyOf: (row: Row) => readonly string[];
    readonly join: (one: Row, other: Row) => Row;
  },
): { readonly matchingRows: Row[]; readonly scannedUpTo: readonly string[] | undefined } {
  let end: readonly string[] | undefined;
  let isEndOfSearch = false;
  for (const rows of rowsByServer) {
    const signpost = rows.find(({ nth }) => nth === maxSearchedRows);
    const last = signpost ?? (rows.length > limit ? rows.at(-1) : undefined);
    if (last === undefined || (end !== undefined && compareBytewise(keyOf(last), end) >= 0)) continue;
    end = keyOf(last);
    isEndOfSearch = signpost !== undefined;
  }
  const found: Row[] = [];
  const sorted = rowsByServer
    .flat()
    .filter((row) => row.fits && (end === undefined || compareBytewise(keyOf(row), end) <= 0))
    .sort((a, b) => compareBytewise(keyOf(a), keyOf(b)));
  for (const row of sorted) {
    const before = found.at(-1);
    if (before !== undefined && compareBytewise(keyOf(before), keyOf(row)) === 0)
      found[found.length - 1] = join(before, row);
    else found.push(row);
  }
  return { matchingRows: found, scannedUpTo: isEndOfSearch ? end : undefined };
}

const SingleTextCursor = z.tuple([CursorText]);

interface AccountRow extends ScannedRow {
  readonly address: string;
  readonly email: string;
  readonly name: string;
  readonly memberships: PlatformAccount['memberships'];
}

export const listAccounts = createPlatformList<AccountRow, PlatformAccount>({
  name: 'accounts',
  getSortKey: ({ address }) => [address],
  cursorSchema: SingleTextCursor,
  startParameters: [null],
  toItem: ({ email, name, memberships }) => ({ email, name, memberships }),
  joinRows: (one, other) => {
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

interface OrgRow extends ScannedRow, SubscriptionFacts {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly owner_email: string | null;
  readonly owner_name: string | null;
  readonly created_at: string;
  readonly deleted_at: string | null;
}

export const listOrgs = createPlatformList<OrgRow, PlatformOrg>({
  name: 'orgs',
  getSortKey: ({ slug }) => [slug],
  cursorSchema: SingleTextCursor,
  startParameters: [null],
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

interface TeamRow extends ScannedRow {
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

export const listTeams = createPlatformList<TeamRow, PlatformTeam>({
  name: 'teams',
  getSortKey: (row) => [row.sort_name, row.id],
  cursorSchema: z.tuple([CursorText, CursorId]),
  startParameters: [null, null],
  toItem: (row) => ({
    id: row.id,
    name: row.name,
    description: row.description || null,
    members: row.members,
    org: { id: row.team_org_id, slug: row.org_slug, name: row.org_name },
    createdAt: row.created_at,
  }),
});

interface SubscriptionRow extends ScannedRow, SubscriptionFacts {
  readonly slug: string;
  readonly org_id: string;
  readonly org_name: string;
  readonly current_period_end: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly version: number;
}

export const listSubscriptions = createPlatformList<SubscriptionRow, PlatformSubscription>({
  name: 'subscriptions',
  getSortKey: ({ slug }) => [slug],
  cursorSchema: SingleTextCursor,
  startParameters: [null],
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
