/**
 * Caches a token's rights in a process. Each answer of the authorization check is stored with the rights
 * epoch of the organization. The next call sends it along, and the check accepts it while that epoch lasts
 * (enter.sql). The cache states only what a caller may do, never what it may not do. If the cached rights do
 * not suffice, everything is checked again.
 */
import { orgRank, type OrgRole } from '@muster/contract';
import { LRUCache } from 'lru-cache';
import { type TokenIdentity, serializeTokenAccess } from './identity.ts';

/**
 * The rights in the answer of the authorization check. All fields except the project's are null if the check
 * accepted the cached rights.
 */
export interface RightsRow {
  readonly org_role: OrgRole | null;
  readonly epoch: string | null;
  readonly expires_at: string | null;
  readonly project_id: string | null;
  readonly project_rank: number | null;
}

/**
 * The maximum number of cached projects per token. It is limited because each call sends the ids of the
 * cached projects to Postgres.
 */
const maxCachedProjects = 32;

/** The rights of a token within one epoch. */
class CachedRights {
  readonly orgRole: OrgRole;
  readonly epoch: string;
  readonly expiresAt: string | null;
  private readonly ranks = new LRUCache<string, number>({ max: maxCachedProjects });
  /** Maps a rank to the projects in which the token has at least that rank, formatted as a Postgres array. */
  private readonly texts = new Map<number, string>();

  constructor(orgRole: OrgRole, epoch: string, expiresAt: string | null) {
    this.orgRole = orgRole;
    this.epoch = epoch;
    this.expiresAt = expiresAt;
  }

  add(projectId: string, rank: number): void {
    const known = this.ranks.get(projectId);
    if (known !== undefined && known >= rank) return;
    this.ranks.set(projectId, rank);
    this.texts.clear();
  }

  /** Marks a project as recently used, so that it is evicted later than the others. */
  touch(projectId: string): void {
    this.ranks.get(projectId);
  }

  projectsWith(rank: number): string {
    let text = this.texts.get(rank);
    if (text === undefined) {
      const ids = [...this.ranks.entries()].filter(([, held]) => held >= rank).map(([id]) => id);
      text = `{${ids.join(',')}}`;
      this.texts.set(rank, text);
    }
    return text;
  }
}

type SentRights = readonly [
  reach: string | null,
  orgId: string | null,
  epoch: string | null,
  expiresAt: string | null,
  projects: string | null,
];

/** The cached rights of one token, and the identity that they were cached for. */
export class TokenRightsCache {
  private readonly orgId: string | null;
  private readonly reach: string | null;
  private rights: CachedRights | null = null;

  /**
   * Pass null for `identity` if the token's identity is unknown. Then no cached rights
   * are passed to the authorization check, and it reads all rights from the database.
   */
  constructor(identity: TokenIdentity | null) {
    this.orgId = identity?.orgId ?? null;
    this.reach = identity === null ? null : serializeTokenAccess(identity);
  }

  /**
   * Returns the cached rights that are sent with a call that requires these ranks. Also returns the function
   * that stores the rights in the answer.
   */
  recall(
    needed: number,
    target: { readonly kind: string; readonly rank: number } | null,
  ): { readonly sentRights: SentRights; readonly storeRights: (row: RightsRow) => OrgRole } {
    const { rights, reach, orgId } = this;
    // Cached rights do not cover the platform, because it is not a record. Access to it is checked in full
    // each time.
    const isEnough =
      rights !== null && orgRank(rights.orgRole) >= needed && target?.kind !== 'platform' && orgId !== null;
    if (!isEnough)
      return { sentRights: [reach, null, null, null, null], storeRights: (row) => this.learn(null, row) };
    const projects = target === null ? null : rights.projectsWith(target.rank);
    return {
      sentRights: [reach, orgId, rights.epoch, rights.expiresAt, projects],
      storeRights: (row) => this.learn(rights, row),
    };
  }

  private learn(sent: CachedRights | null, row: RightsRow): OrgRole {
    const { org_role, epoch, expires_at, project_id, project_rank } = row;
    if (org_role === null) {
      if (sent === null) throw new Error('the authorization check accepted rights that it was not given');
      if (project_id !== null) sent.touch(project_id);
      return sent.orgRole;
    }
    if (epoch === null) return org_role;
    if (this.rights?.epoch !== epoch) this.rights = new CachedRights(org_role, epoch, expires_at);
    if (project_id !== null && project_rank !== null) this.rights.add(project_id, project_rank);
    return org_role;
  }
}
