/** Builds the calls about the work on a board. Each call is an operation with its parameters. */
import { type ProofBoard, type StoryName, type TargetName, typeOf } from './board.ts';
import { type TestUser } from './organization.ts';
import { type Name, type NewCall } from './team.ts';

type Params = NewCall['params'];

/** A granted lease, with the data that its holder has. */
export interface Grant {
  readonly person: Name;
  readonly executionId: string;
  readonly leaseToken: string;
}

export type CallSet = ReturnType<typeof callsOn>;

export function callsOn({ team, ids, questions, projectId }: ProofBoard) {
  const call =
    <Rest extends unknown[]>(operation: string, paramsOf: (...rest: Rest) => Params) =>
    (person: Name | TestUser, ...rest: Rest): NewCall => ({
      person,
      operation,
      params: paramsOf(...rest),
    });
  return {
    acquire: call('deliveryExecutions.acquire', (target: TargetName, more: Params = {}) => ({
      ...{ targetType: typeOf(target), targetId: ids[target] },
      ...more,
    })),
    /** Builds an operation that only the lease holder may call. */
    hold: (operation: string, { person, executionId, leaseToken }: Grant, more: Params = {}): NewCall => ({
      ...{ person, operation: `deliveryExecutions.${operation}` },
      params: { executionId, leaseToken, ...more },
    }),
    get: call('deliveryExecutions.getForTarget', (target: TargetName) => ({
      ...{ targetType: typeOf(target), targetId: ids[target] },
    })),
    requestStop: call('deliveryExecutions.update', (executionId: string, requestStop: boolean) => ({
      ...{ executionId, requestStop },
    })),
    observe: call(
      'deliveryExecutions.recordForgeObservation',
      (executionId: string, observation: Params) => ({
        ...{ executionId, observation },
      }),
    ),
    move: call('stories.updateStatus', (story: StoryName, status: string) => ({
      ...{ storyId: ids[story], status },
    })),
    answer: call('comments.resolve', (story: StoryName, resolved: boolean) => ({
      ...{ commentId: questions[story], resolved },
    })),
    /** Builds the request for a lock, with or without an execution. */
    lock: call('locks.acquire', (path: string, more: Params = {}) => ({
      ...{ projectId, resources: [path], ...more },
    })),
    removeMember: call('members.removeMember', ({ memberId }: TestUser) => ({ memberId })),
    retire: call('agents.retire', ({ agentId }: TestUser) => ({ agentId })),
    questionOf: (story: StoryName): string => questions[story],
    /** Builds the parameters of a handoff that name the member or agent who is offered the work. */
    addressee: (person: Name): Params => {
      const { agentId, memberId } = team.people[person];
      return agentId === null ? { toMemberId: memberId } : { toAgentId: agentId };
    },
  };
}
