/** The rules of the organization, each with the value that is in effect. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type PolicyRecord } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { Failed, Loading } from '../parts/states.tsx';
import { span } from '../texts/index.ts';
import { s } from '../texts/settings.ts';
import { Choice, Form, Section, useWrite } from './parts.tsx';
import { policyQuery, providersQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

type Rules = Omit<PolicyRecord, 'version'>;
type Named<Kind> = { [Key in keyof Rules]: Rules[Key] extends Kind ? Key : never }[keyof Rules];

const groups: Readonly<Record<keyof typeof s.policy.groups, readonly (keyof Rules)[]>> = {
  leases: ['defaultLeaseTtlSeconds', 'maxLeaseTtlSeconds', 'maxLockTtlSeconds'],
  reviews: ['requiredApprovals', 'agentsMayReview', 'authorMayApprove'],
  work: [
    ...(['requireSpecToStart', 'wipLimits', 'agentsMayComplete', 'completeStoryOnMerge'] as const),
    ...(['requireMergeProof', 'mergeProof'] as const),
  ],
  signIn: ['requirePasskey', 'allowedIdentityProviders'],
  organization: ['allowedEmailDomains', 'gamificationEnabled', 'auditRetentionDays'],
};

const Rule = ({
  id,
  hint,
  children,
}: {
  readonly id: keyof Rules;
  readonly hint?: string;
  readonly children: ReactNode;
}) => (
  <div className="rule">
    <label htmlFor={id}>{s.policy.names[id]}</label>
    <div className="rule-value">
      {children}
      {hint !== undefined && <span className="hint">{hint}</span>}
    </div>
  </div>
);

function Rules({ policy, mayChange }: { readonly policy: PolicyRecord; readonly mayChange: boolean }) {
  const client = useClient();
  const { version, ...now } = policy;
  const [rules, setRules] = useState<Rules>(now);
  const [domains, setDomains] = useState(now.allowedEmailDomains.join(' '));
  const { isBusy, run } = useWrite();
  const providers = useQuery({ ...providersQuery(client), enabled: mayChange });
  const set = (change: Partial<Rules>): void => setRules({ ...rules, ...change });
  const save = (): Promise<boolean> => {
    const all = { ...rules, allowedEmailDomains: domains.split(/[\s,]+/).filter((part) => part !== '') };
    const changed = Object.fromEntries(
      Object.entries(all).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(now[name as keyof Rules]),
      ),
    );
    return run(() => client.policy.update({ ...changed, expectedVersion: version }), s.saved);
  };
  const number = (id: Named<number>, hint: string): ReactNode => (
    <Rule key={id} id={id} hint={hint}>
      <input
        id={id}
        className="field"
        type="number"
        inputMode="numeric"
        min={0}
        required
        disabled={!mayChange}
        value={rules[id]}
        onChange={({ target }) => set({ [id]: target.valueAsNumber })}
      />
    </Rule>
  );
  const flag = (id: Named<boolean>): ReactNode => (
    <Rule key={id} id={id}>
      <input
        id={id}
        type="checkbox"
        disabled={!mayChange}
        checked={rules[id]}
        onChange={({ target }) => set({ [id]: target.checked })}
      />
    </Rule>
  );
  const allowed = (): ReactNode => (
    <fieldset key="allowedIdentityProviders" className="rule rule-list">
      <legend className="sr-only">{s.policy.names.allowedIdentityProviders}</legend>
      <span>{s.policy.names.allowedIdentityProviders}</span>
      <div>
        {providers.data?.items.map(({ id, name }) => (
          <label key={id} className="switch">
            <input
              type="checkbox"
              checked={rules.allowedIdentityProviders.includes(id)}
              onChange={({ target }) =>
                set({
                  allowedIdentityProviders: target.checked
                    ? [...rules.allowedIdentityProviders, id]
                    : rules.allowedIdentityProviders.filter((one) => one !== id),
                })
              }
            />
            {name}
          </label>
        ))}
        {providers.data?.items.length === 0 && <span className="hint">{s.providers.empty}</span>}
      </div>
    </fieldset>
  );
  const rule = (id: keyof Rules): ReactNode => {
    if (id === 'mergeProof')
      return (
        <div key={id} className="rule">
          <span>{s.policy.names.mergeProof}</span>
          <Choice
            label={s.policy.names.mergeProof}
            isHidden
            disabled={!mayChange}
            value={rules.mergeProof}
            words={s.policy.mergeProofs}
            onChange={(mergeProof) => set({ mergeProof })}
          />
        </div>
      );
    if (id === 'wipLimits')
      return (
        <div key={id} className="rule">
          <span>{s.policy.names.wipLimits}</span>
          <Choice
            label={s.policy.names.wipLimits}
            isHidden
            disabled={!mayChange}
            value={rules.wipLimits}
            words={s.policy.wip}
            onChange={(wipLimits) => set({ wipLimits })}
          />
        </div>
      );
    if (id === 'allowedEmailDomains')
      return (
        <Rule key={id} id={id} hint={s.policy.domainsHint}>
          <input
            id={id}
            className="field"
            disabled={!mayChange}
            value={domains}
            onChange={({ target }) => setDomains(target.value)}
          />
        </Rule>
      );
    if (id === 'allowedIdentityProviders') return mayChange ? allowed() : null;
    if (id === 'requiredApprovals') return number(id, '');
    if (id === 'auditRetentionDays') return number(id, s.policy.days);
    if (id === 'defaultLeaseTtlSeconds' || id === 'maxLeaseTtlSeconds' || id === 'maxLockTtlSeconds')
      return number(id, s.policy.seconds(span((Number.isFinite(rules[id]) ? rules[id] : 0) * 1_000)));
    return flag(id);
  };
  const all = (Object.keys(groups) as (keyof typeof groups)[]).map((group) => (
    <fieldset key={group} className="rules">
      <legend>{s.policy.groups[group]}</legend>
      {groups[group].map(rule)}
    </fieldset>
  ));
  if (!mayChange)
    return (
      <>
        <p className="muted">{s.policy.onlyAdmins}</p>
        {all}
      </>
    );
  return (
    <Form act={s.save} isBusy={isBusy} onSubmit={() => void save()}>
      {all}
    </Form>
  );
}

export function PolicyPart() {
  const policy = useQuery(policyQuery(useClient()));
  const isAdmin = useIsAdmin();
  return (
    <Section id="policy" title={s.sections.policy} intro={s.policy.intro}>
      {policy.data !== undefined ? (
        <Rules key={policy.data.version} policy={policy.data} mayChange={isAdmin} />
      ) : policy.error !== null ? (
        <Failed error={policy.error} again={() => void policy.refetch()} />
      ) : (
        <Loading label={s.loading} rows={6} />
      )}
    </Section>
  );
}
