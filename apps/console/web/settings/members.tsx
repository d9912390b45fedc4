/** The members and invitations of the organization, with a form that invites one more. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Invitation, type Member } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { Avatar } from '../components/people.tsx';
import { timeUntil, t } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import {
  SelectField,
  joinFacts,
  Form,
  ListItem,
  FormField,
  QueryList,
  OpenFormButton,
  Section,
  useSettingsWrite,
} from './components.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { invitationsQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

type InvitedRole = Invitation['role'];
const { admin: _, ...rolesWithoutAdmin } = texts.roles;
const assignableRoles = ({ isOwner }: { readonly isOwner: boolean }) => {
  const { member, viewer } = rolesWithoutAdmin;
  return (isOwner ? { admin: texts.roles.admin, member, viewer } : { member, viewer }) as Record<
    InvitedRole,
    string
  >;
};

export function InviteForm({ onClose }: { readonly onClose: () => void }) {
  const client = useClient();
  const { member } = useIdentity();
  const projects = useQuery(projectsQuery(client));
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<InvitedRole>('member');
  const [projectId, setProjectId] = useState('');
  const { isBusy, run } = useSettingsWrite();
  const invite = async (): Promise<boolean> => {
    const projectIds = projectId === '' ? [] : [projectId];
    const isDone = await run(
      () => client.members.invite({ email: email.trim(), role, projectIds }),
      texts.members.invited(email.trim()),
    );
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form submitLabel={texts.members.send} isBusy={isBusy} onSubmit={invite} onCancel={onClose}>
      <FormField name={texts.members.email} hint={texts.members.inviteHint}>
        <input
          className="field"
          type="email"
          required
          maxLength={320}
          autoFocus
          autoComplete="off"
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
      </FormField>
      <div className="form-row">
        <SelectField
          label={texts.role}
          value={role}
          optionLabels={assignableRoles({ isOwner: member.role === 'owner' })}
          onChange={setRole}
        />
        <SelectField
          label={texts.project}
          value={projectId}
          optionLabels={{
            '': t.people.none,
            ...Object.fromEntries((projects.data ?? []).map(({ id, name }) => [id, name])),
          }}
          onChange={setProjectId}
        />
      </div>
    </Form>
  );
}

function MemberRow({ member }: { readonly member: Member }) {
  const client = useClient();
  const me = useIdentity().member;
  const { run } = useSettingsWrite();
  const isOwner = me.role === 'owner';
  const isMine = member.id === me.id;
  const mayChange =
    useIsAdmin() && !isMine && member.role !== 'owner' && (isOwner || member.role !== 'admin');
  return (
    <ListItem
      leadingElement={<Avatar name={member.name} kind="member" />}
      title={
        <>
          {member.name} {isMine && <span className="muted">({texts.members.you})</span>}
        </>
      }
      details={joinFacts(`@${member.handle}`, member.email)}
    >
      {mayChange ? (
        <>
          <SelectField
            label={texts.members.roleOf(member.name)}
            isHidden
            value={member.role as InvitedRole}
            optionLabels={assignableRoles({ isOwner })}
            onChange={(role) => void run(() => client.members.setRole({ memberId: member.id, role }))}
          />
          <ConfirmButton
            actionLabel={texts.remove}
            subject={member.name}
            title={texts.members.removeTitle(member.name)}
            explanation={texts.members.removeWhy}
            onConfirm={() => run(() => client.members.removeMember({ memberId: member.id }))}
          />
        </>
      ) : (
        <span className="muted">{texts.roles[member.role]}</span>
      )}
    </ListItem>
  );
}

function InvitationRow({ invitation }: { readonly invitation: Invitation }) {
  const { invitations } = useClient();
  const { isBusy, run } = useSettingsWrite();
  const { id: invitationId, email, role, state, expiresAt } = invitation;
  return (
    <ListItem
      leadingElement={<Avatar name={email} kind="member" />}
      title={email}
      details={joinFacts(
        texts.roles[role],
        state === 'pending' ? texts.members.pending(timeUntil(expiresAt)) : texts.members.expired,
      )}
    >
      <button
        type="button"
        className="button"
        data-kind="quiet"
        disabled={isBusy}
        onClick={() => void run(() => invitations.resend({ invitationId }), texts.members.resent(email))}
      >
        {texts.members.resend}
        <span className="sr-only"> {email}</span>
      </button>
      {state === 'pending' && (
        <button
          type="button"
          className="button"
          data-kind="quiet"
          disabled={isBusy}
          onClick={() => void run(() => invitations.revoke({ invitationId }))}
        >
          {texts.members.revoke}
          <span className="sr-only"> {email}</span>
        </button>
      )}
    </ListItem>
  );
}

export function Members() {
  const client = useClient();
  const isAdmin = useIsAdmin();
  const [isInviting, setInviting] = useState(false);
  const [text, setText] = useState('');
  const members = useQuery(membersQuery(client));
  const invitations = useQuery({ ...invitationsQuery(client), enabled: isAdmin });
  const wanted = text.trim().toLocaleLowerCase();
  const found = members.data?.filter(({ name, email, handle }) =>
    `${name} ${email} ${handle}`.toLocaleLowerCase().includes(wanted),
  );
  return (
    <>
      <Section
        id="members"
        title={texts.sections.members}
        intro={texts.members.intro}
        headerAction={
          isAdmin &&
          !isInviting && <OpenFormButton name={texts.members.invite} onOpen={() => setInviting(true)} />
        }
      >
        {isInviting && <InviteForm onClose={() => setInviting(false)} />}
        {(members.data?.length ?? 0) > 10 && (
          <input
            className="field"
            type="search"
            aria-label={texts.members.find}
            placeholder={texts.members.find}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
        <QueryList query={{ ...members, data: found }} emptyTitle={texts.members.empty}>
          {(member) => <MemberRow key={member.id} member={member} />}
        </QueryList>
      </Section>
      {(invitations.data?.length ?? 0) > 0 && (
        <Section id="invitations" title={texts.members.invitations}>
          <QueryList query={invitations} emptyTitle="">
            {(invitation) => <InvitationRow key={invitation.id} invitation={invitation} />}
          </QueryList>
        </Section>
      )}
    </>
  );
}
