/** Builds the calls about the work on a board. Each call is an operation with its parameters. */
import { type Board, type StoryName, type TargetName, typeOf } from './board.ts';
import { type Person } from './organization.ts';
import { type Name } from './team.ts';

type Params = Readonly<Record<string, unknown>>;

export interface Call {
  readonly person: Name | Person;
  readonly operation: string;
  readonly params: Params;
}

/** A granted lease, with the data that its holder has. */
export interface Grant {
  readonly person: Name;
  readonly executionId: string;
  readonly leaseToken: string;
}

export type Calls = ReturnType<typeof callsOn>;

export function callsOn({ team, ids, questions, projectId }: Board) {
  const call =
    <Rest extends unknown[]>(operation: string, paramsOf: (...rest: Rest) => Params) =>
    (person: Name | Person, ...rest: Rest): Call => ({ person, operation, params: paramsOf(...rest) });
  return {
    acquire: call('deliveryExecutions.acquire', (target: TargetName, more: Params = {}) => ({
      ...{ targetType: typeOf(target), targetId: ids[target] },
      ...more,
    })),
    /** Builds an operation that only the lease holder may call. */
    hold: (operation: string, { person, executionId, leaseToken }: Grant, more: Params = {}): Call => ({
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
    removeMember: call('members.removeMember', ({ memberId }: Person) => ({ memberId })),
    retire: call('agents.retire', ({ agentId }: Person) => ({ agentId })),
    questionOf: (story: StoryName): string => questions[story],
    /** Builds the parameters of a handoff that name the member or agent who is offered the work. */
    addressee: (person: Name): Params => {
      const { agentId, memberId } = team.people[person];
      return agentId === null ? { toMemberId: memberId } : { toAgentId: agentId };
    },
  };
}
