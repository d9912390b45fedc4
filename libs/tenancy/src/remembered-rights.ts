/**
 * What a process remembers of a token's rights: each answer of the door, together with the epoch of rights that the
 * organization was in. It is sent along with the next call, and the door takes it while that epoch lasts (enter.sql). It
 * says what a caller may do, never what a caller may not: where it is not enough, the door looks at everything again.
 */
import { orgRank, type OrgRole } from '@muster/registry';
import { LRUCache } from 'lru-cache';
import { type Identity, reachOf } from './identity.ts';

/** What the door answers of rights. All but the project is null where it took what it was told. */
export interface RightsRow {
  readonly org_role: OrgRole | null;
  readonly epoch: string | null;
  readonly expires_at: string | null;
  readonly project_id: string | null;
  readonly project_rank: number | null;
}

/** Projects of one token: each of them is sent with a call. */
const mostProjects = 32;

/** One epoch of them. */
class Rights {
  readonly orgRole: OrgRole;
  readonly epoch: string;
  readonly expiresAt: string | null;
  private readonly ranks = new LRUCache<string, number>({ max: mostProjects });
  /** The projects in which a rank is held, as Postgres writes an array. */
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

  /** Used again: it stays for longer than the others. */
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

type Told = readonly [
  reach: string | null,
  orgId: string | null,
  epoch: string | null,
  expiresAt: string | null,
  projects: string | null,
];

/** Of one token, and what it is taken for. */
export class RememberedRights {
  private readonly orgId: string | null;
  private readonly reach: string | null;
  private rights: Rights | null = null;

  /** Without an identity nothing is remembered that can be told: the door looks at everything. */
  constructor(identity: Identity | null) {
    this.orgId = identity?.orgId ?? null;
    this.reach = identity === null ? null : reachOf(identity);
  }

  /** For a call that needs these ranks: what the door is told, and what is to be made of its answer. */
  recall(
    needed: number,
    target: { readonly kind: string; readonly rank: number } | null,
  ): { readonly told: Told; readonly learn: (row: RightsRow) => OrgRole } {
    const { rights, reach, orgId } = this;
    // What opens all organizations is no record, and is looked at each time.
    const isEnough =
      rights !== null && orgRank(rights.orgRole) >= needed && target?.kind !== 'platform' && orgId !== null;
    if (!isEnough) return { told: [reach, null, null, null, null], learn: (row) => this.learn(null, row) };
    const projects = target === null ? null : rights.projectsWith(target.rank);
    return {
      told: [reach, orgId, rights.epoch, rights.expiresAt, projects],
      learn: (row) => this.learn(rights, row),
    };
  }

  private learn(sent: Rights | null, row: RightsRow): OrgRole {
    const { org_role, epoch, expires_at, project_id, project_rank } = row;
    if (org_role === null) {
      if (sent === null) throw new Error('the door took what it was not told');
      if (project_id !== null) sent.touch(project_id);
      return sent.orgRole;
    }
    if (epoch === null) return org_role;
    if (this.rights?.epoch !== epoch) this.rights = new Rights(org_role, epoch, expires_at);
    if (project_id !== null && project_rank !== null) this.rights.add(project_id, project_rank);
    return org_role;
  }
}
