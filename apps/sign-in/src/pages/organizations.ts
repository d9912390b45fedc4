/** The home page of a signed-in person. */
import { type Account, type AccountInvitation, type AccountOrganization } from '../data/accounts.ts';
import { type Html, html } from '@muster/http';
import { type HtmlPage } from './layout.ts';
import { problemMessage } from './pages.ts';
import { passkeysPath } from './passkeys.ts';

export interface HomeFacts {
  readonly account: Account;
  readonly organizations: readonly AccountOrganization[];
  readonly invitations: readonly AccountInvitation[];
  /** True if the person may create an organization. */
  readonly mayCreateOrganization: boolean;
  /** An error message, such as for an invalid name. */
  readonly problem: string | null;
  readonly note: string | null;
  /** The submitted name of an organization. */
  readonly submittedName: string;
  /** True if passkeys are available. */
  readonly hasPasskeys: boolean;
  /** The path of this origin that opens an organization. */
  readonly homePath: string;
}

const organizationLabel = ({ name, slug, role }: AccountOrganization): Html =>
  html`${name} <span class="muted">${slug}, ${role}</span>`;

function organizationsPart({ organizations, invitations, homePath }: HomeFacts): Html {
  if (organizations.length === 0) {
    const where = 'You’re not in an organization yet.';
    return invitations.length > 0
      ? html`<p>${where}</p>`
      : html`<p>${where} Ask an admin to invite this e-mail address.</p>`;
  }
  // If the installation has no separate home page, organizations are not links.
  const entry = (organization: AccountOrganization): Html =>
    homePath === '/sign-in'
      ? html`<li><span>${organizationLabel(organization)}</span></li>`
      : html`<li><a href="${homePath}?org=${organization.slug}">${organizationLabel(organization)}</a></li>`;
  return html`<h2>${organizations.length > 1 ? 'Choose an organization' : 'Your organization'}</h2>
    <ul class="rows">
      ${organizations.map(entry)}
    </ul>`;
}

const roleWithArticle = { admin: 'an admin', member: 'a member', viewer: 'a viewer' } as const;

const invitationsPart = (invitations: readonly AccountInvitation[]): Html | null =>
  invitations.length === 0
    ? null
    : html`<section class="card">
        <h2>Invitations</h2>
        ${invitations.map(
          ({ id, orgId, orgName, role, invitedBy }) =>
            html`<form method="post" action="/invitations/join">
              <input type="hidden" name="organization" value="${orgId}" />
              <input type="hidden" name="invitation" value="${id}" />
              <p>${invitedBy} invited you to join <strong>${orgName}</strong> as ${roleWithArticle[role]}.</p>
              <button class="button" data-kind="main">Join ${orgName}</button>
            </form>`,
        )}
      </section>`;

const createOrganizationPart = (submittedName: string): Html =>
  html`<section class="card">
    <h2>Create an organization</h2>
    <form method="post" action="/auth/organization">
      <label for="organization">Name</label>
      <input
        class="field"
        id="organization"
        name="name"
        required
        maxlength="120"
        autocomplete="organization"
        value="${submittedName}"
      />
      <button class="button">Create organization</button>
    </form>
    <p class="muted">You will be its owner. It is free for up to five people.</p>
  </section>`;

export const homePage = (facts: HomeFacts): HtmlPage => ({
  title: 'Your organizations',
  status: facts.problem === null ? 200 : 422,
  body: html`<section class="card">
      <h1>You’re signed in</h1>
      ${problemMessage(facts.problem)}
      ${facts.note === null ? null : html`<p role="status">${facts.note}</p>`}
      <p>${facts.account.name} (${facts.account.email})</p>
      ${organizationsPart(facts)}
      ${facts.hasPasskeys ? html`<p><a href="${passkeysPath}">Manage passkeys</a></p>` : null}
      <form method="post" action="/auth/sign-out"><button class="button">Sign out</button></form>
    </section>
    ${invitationsPart(facts.invitations)}
    ${facts.mayCreateOrganization ? createOrganizationPart(facts.submittedName) : null}`,
});
