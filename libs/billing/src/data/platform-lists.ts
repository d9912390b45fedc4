/**
 * The operators' lists, over all organizations: functions of the database, which ask for the pass of a platform token.
 * Each walks down an index, and looks at so many at most; a page that found little comes with a cursor all the same.
 */
import {
  containing,
  CursorId,
  CursorText,
  type Db,
  decodeCursor,
  mostLookedAt,
  type Page,
  pageOfSearch,
  sql,
} from '@muster/database';
import {
  type Plan,
  type PlatformAccount,
  type PlatformOrg,
  type PlatformSubscription,
  type PlatformTeam,
} from '@muster/registry';
import { z } from 'zod';

interface Params {
  readonly query?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** What was looked at, counted from where the page began; an item of it where it fits. */
interface Step {
  readonly nth: number;
  readonly fits: boolean;
}

interface List<Row extends Step, Item> {
  readonly name: 'accounts' | 'orgs' | 'teams' | 'subscriptions';
  /** What a row is sorted by, and how that looks in a cursor. */
  readonly keyOf: (row: Row) => readonly string[];
  readonly key: z.ZodType<readonly string[]>;
  /** Where the list begins, as its function takes it. */
  readonly start: readonly null[];
  readonly toItem: (row: Row) => Item;
}

const listOf =
  <Row extends Step, Item>({ name, keyOf, key, start, toItem }: List<Row, Item>) =>
  async (db: Db, { query, limit, cursor }: Params): Promise<Page<Item>> => {
    const pattern = query === undefined ? null : containing(query);
    const parameters = [...(decodeCursor(cursor, key) ?? start), pattern, mostLookedAt, limit];
    const list = sql.word(`platform_${name}`);
    const rows = await db.all(sql<Row>`select * from app.${list}(${sql.join(parameters)})`);
    return pageOfSearch(rows, limit, keyOf, toItem);
  };

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
