/**
 * What cannot be undone is confirmed by a person, where their client can ask them (elicitation, in several rounds of one
 * request): a key that a model repeats is no confirmation. Nothing is kept here meanwhile: what was asked goes along with
 * the client, sealed.
 */
import { createClient, type Transport } from '@muster/client';
import { forbidden, type Operation, type ParamsOf, type Registry, registry } from '@muster/registry';
import {
  type ClientCapabilities,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  acceptedContent,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Answer } from '../answers/answers.ts';
import { digest } from './intents.ts';

/** The call waits for a person: the result tells the client what to ask. */
export class Asking extends Error {
  readonly result: InputRequiredResult;
  constructor(result: InputRequiredResult) {
    super('a person is asked');
    this.name = 'Asking';
    this.result = result;
  }
}

/** A round of a request, as far as it is about being asked. */
export interface Round {
  readonly capabilities: ClientCapabilities | undefined;
  /** What the client brought back of the round before, once its seal was found whole. */
  readonly state: unknown;
  readonly responses: Readonly<Record<string, unknown>> | undefined;
  readonly seal: (state: string) => Promise<string>;
}

/** Asks, or returns where it was confirmed. Throws `Asking`, and 403 `declined`. */
export type Confirm = (operation: Operation, params: Answer) => Promise<void>;

type Client = ReturnType<typeof createClient>;
type Question = (params: Answer, client: Client) => Promise<string>;

const asks = <Name extends Operation>(
  operation: Name,
  question: (params: ParamsOf<Name>, client: Client) => Promise<string>,
): [string, Question] => [operation.name, question as unknown as Question];

const nameOf = async (client: Client, memberId: string): Promise<string> =>
  (await client.members.profile({ memberId })).member.name;

const { orgs, projects, members, gamification, agents } = registry satisfies Registry;

/** What is asked of each, by names rather than ids: the person who is asked has not seen the call. */
const questions: ReadonlyMap<string, Question> = new Map([
  asks(orgs.delete, async (_params, client) => {
    const { org } = await client.session.identity();
    return `Delete the organization ${org.name} (${org.slug}), with all that is in it?`;
  }),
  asks(orgs.transferOwnership, async ({ memberId }, client) => {
    const { org } = await client.session.identity();
    return `Make ${await nameOf(client, memberId)} the owner of ${org.name} in your place?`;
  }),
  asks(projects.delete, async ({ projectId }, client) => {
    const { project } = await client.projects.get({ projectId });
    return `Delete the project ${project.name} (${project.key}), with all of its stories, specs and comments?`;
  }),
  asks(members.removeMember, async ({ memberId }, client) => {
    const name = await nameOf(client, memberId);
    return `Remove ${name} from the organization? Their tokens end, and what they work on is let go of.`;
  }),
  asks(gamification.reset, async ({ memberId }, client) =>
    memberId === undefined
      ? 'Set the points of everybody back to nothing?'
      : `Set the points of ${await nameOf(client, memberId)} back to nothing?`,
  ),
  asks(
    agents.catalog.delete,
    async ({ slug, version }) =>
      `Delete ${version === undefined ? 'all versions' : `version ${version}`} of ${slug} from the catalog?`,
  ),
]);

export const confirmedOperations: readonly string[] = [...questions.keys()];

const question = 'confirm';
const Confirmed = z.object({ confirm: z.boolean() });

/** A client that says elicitation and no more means forms. */
const canAsk = (capabilities: ClientCapabilities | undefined): boolean => {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
};

/** How the calls of a request are confirmed; undefined where its client cannot ask. */
export function confirmBy(
  { capabilities, state, responses, seal }: Round,
  transport: Transport,
): Confirm | undefined {
  if (!canAsk(capabilities)) return undefined;
  return async ({ name }, params) => {
    const ask = questions.get(name);
    if (ask === undefined) return;
    const asked = digest(name, JSON.stringify(params));
    const given = inputResponse(responses, question);
    // What was confirmed is this very call, and no other.
    if (state === asked && given.kind === 'elicit') {
      if (acceptedContent(responses, question, Confirmed)?.confirm === true) return;
      throw forbidden('declined', 'It was not confirmed, and nothing was done.');
    }
    const message = `${await ask(params, createClient(transport))} This cannot be undone.`;
    throw new Asking(
      inputRequired({
        inputRequests: {
          [question]: inputRequired.elicit({
            message,
            requestedSchema: {
              type: 'object',
              properties: { [question]: { type: 'boolean', title: 'Yes, do it' } },
              required: [question],
            },
          }),
        },
        requestState: await seal(asked),
      }),
    );
  };
}
