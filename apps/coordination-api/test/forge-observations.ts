/** Records observations as a connected forge does, through the job and without a token. */
import { handlers, performableHandlers, reactions } from '@muster/operations';
import { type InputOf, internalOperations, type ResultOf } from '@muster/contract';
import { runAsSystem } from '@muster/runtime';
import { inOrganizationAsSystem, systemAuditFacts } from '@muster/tenancy';
import { type useWorld } from '@muster/testing';

const environment = { handlers: performableHandlers(handlers), reactions };
export const forge = { kind: 'system', memberId: null, agentId: null, name: 'GitHub' } as const;

type ObserveForge = typeof internalOperations.observeForge;
export type ForgeObservation = InputOf<ObserveForge>['observation'];

export const observeAsForge = (
  world: ReturnType<typeof useWorld>,
  { orgId, projectId }: { readonly orgId: string; readonly projectId: string },
  params: InputOf<ObserveForge>,
): Promise<ResultOf<ObserveForge>> =>
  inOrganizationAsSystem(world.database.app, orgId, (db) => {
    const work = { db, orgId, actor: forge, facts: systemAuditFacts('forge.translate', null) };
    return runAsSystem(work, environment, (perform) =>
      perform(internalOperations.observeForge, { id: params.executionId, projectId }, params),
    );
  });
