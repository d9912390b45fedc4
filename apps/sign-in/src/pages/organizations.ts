/** The home page of a signed-in person. */
import { type Account, type OwnInvitation, type OwnOrganization } from '../data/accounts.ts';
import { type Html, html } from '@muster/http';
import { type HtmlPage } from './layout.ts';
import { problem } from './pages.ts';
import { passkeysPath } from './passkeys.ts';

export interface HomeFacts {
  readonly account: Account;
  readonly organizations: readonly OwnOrganization[];
  readonly invitations: readonly OwnInvitation[];
  /** True if the person may create an organization. */
  readonly mayBegin: boolean;
  /** An error message, such as for an invalid name. */
  readonly problem: string | null;
  readonly note: string | null;
  /** The submitted name of an organization. */
  readonly typed: string;
  /** True if passkeys are available. */
  readonly passkeys: boolean;
  /** The path of this origin that opens an organization. */
  readonly home: string;
}

const line = ({ name, slug, role }: OwnOrganization): Html =>
  html`${name} <span class="quiet">${slug}, ${role}</span>`;

function organizationsPart({ organizations, invitations, home }: HomeFacts): Html {
  if (organizations.length === 0) {
    const where = 'You’re not in an organization yet.';
    return invitations.length > 0
      ? html`<p>${where}</p>`
      : html`<p>${where} Ask an admin to invite this e-mail address.</p>`;
  }
  // If the installation has no separate home page, organizations are not links.
  const entry = (organization: OwnOrganization): Html =>
    home === '/sign-in'
      ? html`<li><span>${line(organization)}</span></li>`
      : html`<li><a href="${home}?org=${organization.slug}">${line(organization)}</a></li>`;
  return html`<h2>${organizations.length > 1 ? 'Choose an organization' : 'Your organization'}</h2>
    <ul>
      ${organizations.map(entry)}
    </ul>`;
}

const articles = { admin: 'an admin', member: 'a member', viewer: 'a viewer' } as const;

const invitationsPart = (invitations: readonly OwnInvitation[]): Html | null =>
  invitations.length === 0
    ? null
    : html`<section>
        <h2>Invitations</h2>
        ${invitations.map(
          ({ id, orgId, orgName, role, invitedBy }) =>
            html`<form method="post" action="/invitations/join">
              <input type="hidden" name="organization" value="${orgId}" />
              <input type="hidden" name="invitation" value="${id}" />
              <p class="wide">
                ${invitedBy} invited you to join <strong>${orgName}</strong> as ${articles[role]}.
              </p>
              <button>Join ${orgName}</button>
            </form>`,
        )}
      </section>`;

const beginPart = (typed: string): Html =>
  html`<section>
    <h2>Create an organization</h2>
    <form method="post" action="/auth/organization">
      <label for="organization">Name</label>
      <input
        id="organization"
        name="name"
        required
        maxlength="120"
        autocomplete="organization"
        value="${typed}"
      />
      <button class="second">Create organization</button>
    </form>
    <p class="quiet">You will be its owner. It is free for up to five people.</p>
  </section>`;

export const homePage = (facts: HomeFacts): HtmlPage => ({
  title: 'Your organizations',
  status: facts.problem === null ? 200 : 422,
  body: html`<section>
      <h1>You’re signed in</h1>
      ${problem(facts.problem)} ${facts.note === null ? null : html`<p role="status">${facts.note}</p>`}
      <p class="wide">${facts.account.name} (${facts.account.email})</p>
      ${organizationsPart(facts)}
      ${facts.passkeys ? html`<p><a href="${passkeysPath}">Manage passkeys</a></p>` : null}
      <form method="post" action="/auth/sign-out"><button class="second">Sign out</button></form>
    </section>
    ${invitationsPart(facts.invitations)} ${facts.mayBegin ? beginPart(facts.typed) : null}`,
});
