/** Pages on which people consent to a client's access. */
import { type AccountOrganization } from '../data/accounts.ts';
import { type Html, html } from '@muster/http';
import { type OwnAgent, type OwnProject } from '../oauth/own-calls.ts';
import { type RequestingDevice, deviceOriginPart } from './devices.ts';
import { type HtmlPage } from './layout.ts';

/** Possible lifetimes of a connection in days. */
export const connectionLifetimeDays = [1, 7, 30, 90] as const;

/** The requesting client, as shown to the person. */
export interface RequestingClient {
  readonly name: string;
  /** The host that vouches for the client; null if the client only claims its name. */
  readonly host: string | null;
  /** A description of the redirect URI; null if a code was typed. */
  readonly redirectDescription: string | null;
  /** Set if the client is a device that shows a code. */
  readonly device: RequestingDevice | null;
}

export interface ConsentFacts {
  readonly client: RequestingClient;
  /** The URL that the form is sent to. */
  readonly action: string;
  /** Hidden fields of the form. */
  readonly hidden: Readonly<Record<string, string>>;
  readonly organization: AccountOrganization;
  readonly hasOthers: boolean;
  readonly agents: readonly OwnAgent[];
  readonly projects: readonly OwnProject[];
  /** Scopes that can be granted, widest last. */
  readonly scopes: readonly ('read' | 'write' | 'admin')[];
  readonly submittedFields: Readonly<Record<string, string>>;
  readonly problem: string | null;
}

const requestingClientPart = ({ name, host, redirectDescription, device }: RequestingClient): Html => html`
  <p>
    ${
      host === null
        ? html`<strong>${name}</strong> wants to access your organization. The program chose this name itself
            and it is not verified. Continue only if you just started the program yourself.`
        : html`<strong>${name}</strong> from <strong>${host}</strong> wants to access your organization.`
    }
  </p>
  ${redirectDescription === null ? null : html`<p class="muted">You will be sent back to ${redirectDescription}.</p>`}
  ${device === null ? null : deviceOriginPart(device)}
`;

const scopeLabels: Readonly<Record<'read' | 'write' | 'admin', string>> = {
  read: 'Read',
  write: 'Read and write',
  admin: 'Read, write and administer',
};

const scopeHints: Readonly<Record<'read' | 'write' | 'admin', string>> = {
  read: 'It can view the selected projects but can’t change anything.',
  write: 'It can also create and change stories, comment, and work on stories.',
  admin: 'It can also manage projects, teams and organization settings.',
};

/** Up to this many projects are preselected; with more, the person has to choose. */
const maxPreselectedProjects = 5;
const defaultLifetimeDays = '30';

const choiceInput = (
  { type = 'radio', name, value }: { type?: 'radio' | 'checkbox'; name: string; value: string },
  isChosen: boolean,
  text: Html | string,
  hint?: string,
): Html =>
  html`<label class="choice"
    ><input type="${type}" name="${name}" value="${value}" ${isChosen ? html`checked` : null} /><span
      >${text} ${hint === undefined ? null : html`<small>${hint}</small>`}</span
    ></label
  >`;

const hiddenFields = (fields: Readonly<Record<string, string>>): Html[] =>
  Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );

function projectsPart({ projects, submittedFields }: ConsentFacts): Html {
  const areFew = projects.length > 0 && projects.length <= maxPreselectedProjects;
  const fallback = areFew ? 'some' : undefined;
  const chosen = submittedFields['in'] ?? (projects.length === 0 ? 'all' : fallback);
  const isPreselected = areFew && submittedFields['in'] === undefined;
  return html`<fieldset>
    <legend>Projects</legend>
    ${projects.length === 0 ? null : choiceInput({ name: 'in', value: 'some' }, chosen === 'some', 'Only selected projects', 'It can’t see any other project.')}
    <div class="within">
      ${projects.map(({ id, key, name }) =>
        choiceInput(
          { type: 'checkbox', name: `project-${id}`, value: 'on' },
          isPreselected || submittedFields[`project-${id}`] !== undefined,
          html`${name} <span class="muted">${key}</span>`,
        ),
      )}
    </div>
    ${choiceInput({ name: 'in', value: 'all' }, chosen === 'all', 'All projects', 'It can access every project that you can see, including future ones.')}
  </fieldset>`;
}

export function consentPage(facts: ConsentFacts): HtmlPage {
  const { client, organization, agents, scopes, submittedFields, problem } = facts;
  const agent = submittedFields['agent'] ?? agents[0]?.id ?? 'new';
  // A code may come from an attacker, so a device defaults to the narrowest scope.
  const usual = client.device === null ? scopes.findLast((scope) => scope !== 'admin') : scopes[0];
  const scope = submittedFields['scope'] ?? usual;
  const days = submittedFields['days'] ?? defaultLifetimeDays;
  return {
    title: `Connect ${client.name}`,
    layout: 'whole',
    status: problem === null ? 200 : 422,
    body: html`<section class="card">
      <h1>Connect ${client.name}</h1>
      ${requestingClientPart(client)}
      ${problem === null ? null : html`<p class="form-error" role="alert">${problem}</p>`}
      <form method="post" action="${facts.action}">
        ${hiddenFields(facts.hidden)}
        <input type="hidden" name="org" value="${organization.id}" />
        <p>Organization: <strong>${organization.name}</strong></p>
        ${facts.hasOthers ? html`<p><button class="button" form="organizations">Choose another organization</button></p>` : null}
        <div class="sides">
          <fieldset>
            <legend>Agent</legend>
            ${agents.map(({ id, name }) => choiceInput({ name: 'agent', value: id }, agent === id, name, 'Its activity appears under this agent’s name.'))}
            ${choiceInput({ name: 'agent', value: 'new' }, agent === 'new', 'New agent', 'Muster creates an agent for you. Its activity appears under this name.')}
            <div class="within">
              <input
                class="field"
                name="agentName"
                aria-label="Name of the new agent"
                maxlength="120"
                value="${submittedFields['agentName'] ?? client.name}"
              />
            </div>
          </fieldset>
          ${projectsPart(facts)}
          <fieldset>
            <legend>Access</legend>
            ${scopes.map((one) => choiceInput({ name: 'scope', value: one }, scope === one, scopeLabels[one], scopeHints[one]))}
          </fieldset>
        </div>
        <label for="days">Expires after</label>
        <select class="field" id="days" name="days" aria-describedby="days-hint">
          ${connectionLifetimeDays.map(
            (one) =>
              html`<option value="${one}" ${String(one) === days ? html`selected` : null}>
                ${one === 1 ? '1 day' : `${one} days`}
              </option>`,
          )}
        </select>
        <p id="days-hint" class="muted">After that, it has to ask for access again.</p>
        <div class="ask">
          <button class="button" data-kind="main" name="answer" value="connect">Connect</button>
          <button class="button" name="answer" value="refuse">Cancel</button>
        </div>
      </form>
      <form id="organizations" method="post" action="${facts.action}">${hiddenFields(facts.hidden)}</form>
      <p class="muted">It never has more access than you do. You can disconnect it at any time.</p>
    </section>`,
  };
}

/** Renders the choice of an organization, for people in several of them. */
export const organizationPage = (
  client: RequestingClient,
  { action, hidden }: Pick<ConsentFacts, 'action' | 'hidden'>,
  organizations: readonly AccountOrganization[],
): HtmlPage => ({
  title: `Connect ${client.name}`,
  body: html`<section class="card">
    <h1>Connect ${client.name}</h1>
    ${requestingClientPart(client)}
    <h2>Choose an organization</h2>
    <form method="post" action="${action}">
      ${hiddenFields(hidden)}
      <ul class="rows">
        ${organizations.map(
          ({ id, name, slug, role }) =>
            html`<li>
              <button class="button" name="org" value="${id}">
                ${name} <span class="muted">${slug}, ${role}</span>
              </button>
            </li>`,
        )}
      </ul>
    </form>
  </section>`,
});

/** Renders the page that leads back to the client, with a link in case the browser does not redirect. */
export const goBackPage = (client: RequestingClient, href: string, isConnected: boolean): HtmlPage => ({
  title: isConnected ? `${client.name} is connected` : 'Not connected',
  body: html`<section class="card">
    <h1>${isConnected ? `${client.name} is connected` : 'Not connected'}</h1>
    <p><a class="button" data-kind="main" href="${href}">Back to ${client.name}</a></p>
  </section>`,
});
