/** The rules of the organization, each with the value that is in effect. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type PolicyRecord } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { Failed, Loading } from '../components/states.tsx';
import { span } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { Choice, Form, Section, useWrite } from './components.tsx';
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

interface Rewriting {
  readonly rules: Rules;
  readonly set: (change: Partial<Rules>) => void;
  readonly mayChange: boolean;
}

const NumberRule = ({
  id,
  hint,
  rules,
  set,
  mayChange,
}: Rewriting & { readonly id: Named<number>; readonly hint: string }) => (
  <Rule id={id} hint={hint}>
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

const FlagRule = ({ id, rules, set, mayChange }: Rewriting & { readonly id: Named<boolean> }) => (
  <Rule id={id}>
    <input
      id={id}
      type="checkbox"
      disabled={!mayChange}
      checked={rules[id]}
      onChange={({ target }) => set({ [id]: target.checked })}
    />
  </Rule>
);

const ChoiceRule = <Id extends 'mergeProof' | 'wipLimits'>({
  id,
  words,
  hint,
  rules,
  set,
  mayChange,
}: Rewriting & {
  readonly id: Id;
  readonly words: Readonly<Record<Rules[Id], string>>;
  readonly hint?: string;
}) => (
  <div className="rule">
    <span>{s.policy.names[id]}</span>
    <div className="rule-value">
      <Choice
        label={s.policy.names[id]}
        isHidden
        disabled={!mayChange}
        value={rules[id]}
        words={words}
        onChange={(value) => set({ [id]: value })}
      />
      {hint !== undefined && <span className="hint">{hint}</span>}
    </div>
  </div>
);

function DomainsRule({ rules, set, mayChange }: Rewriting) {
  const [text, setText] = useState(rules.allowedEmailDomains.join(' '));
  return (
    <Rule id="allowedEmailDomains" hint={s.policy.domainsHint}>
      <input
        id="allowedEmailDomains"
        className="field"
        disabled={!mayChange}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          set({ allowedEmailDomains: target.value.split(/[\s,]+/).filter((part) => part !== '') });
        }}
      />
    </Rule>
  );
}

function ProvidersRule({ rules, set }: Rewriting) {
  const providers = useQuery(providersQuery(useClient())).data?.items;
  const allowed = rules.allowedIdentityProviders;
  return (
    <fieldset className="rule rule-list">
      <legend className="sr-only">{s.policy.names.allowedIdentityProviders}</legend>
      <span>{s.policy.names.allowedIdentityProviders}</span>
      <div>
        {providers?.map(({ id, name }) => (
          <label key={id} className="switch">
            <input
              type="checkbox"
              checked={allowed.includes(id)}
              onChange={({ target }) =>
                set({
                  allowedIdentityProviders: target.checked
                    ? [...allowed, id]
                    : allowed.filter((one) => one !== id),
                })
              }
            />
            {name}
          </label>
        ))}
        <span className="hint">{providers?.length === 0 ? s.providers.empty : s.policy.providersHint}</span>
      </div>
    </fieldset>
  );
}

function AnyRule({ id, ...rewriting }: Rewriting & { readonly id: keyof Rules }) {
  const { rules, mayChange } = rewriting;
  switch (id) {
    case 'mergeProof':
      return (
        <ChoiceRule id={id} words={s.policy.mergeProofs} hint={s.policy.mergeProofHint} {...rewriting} />
      );
    case 'wipLimits':
      return <ChoiceRule id={id} words={s.policy.wip} {...rewriting} />;
    case 'allowedEmailDomains':
      return <DomainsRule {...rewriting} />;
    case 'allowedIdentityProviders':
      return mayChange ? <ProvidersRule {...rewriting} /> : null;
    case 'requiredApprovals':
      return <NumberRule id={id} hint="" {...rewriting} />;
    case 'auditRetentionDays':
      return <NumberRule id={id} hint={s.policy.days} {...rewriting} />;
    case 'defaultLeaseTtlSeconds':
    case 'maxLeaseTtlSeconds':
    case 'maxLockTtlSeconds': {
      const seconds = Number.isFinite(rules[id]) ? rules[id] : 0;
      return <NumberRule id={id} hint={s.policy.seconds(span(seconds * 1_000))} {...rewriting} />;
    }
    default:
      return <FlagRule id={id} {...rewriting} />;
  }
}

function Rules({ policy, mayChange }: { readonly policy: PolicyRecord; readonly mayChange: boolean }) {
  const client = useClient();
  const { version, ...now } = policy;
  /** Rules that were changed here and are not saved yet. All others follow the server. */
  const [typed, setTyped] = useState<Partial<Rules>>({});
  const rules = { ...now, ...typed };
  const { isBusy, run } = useWrite();
  const set = (change: Partial<Rules>): void => setTyped({ ...typed, ...change });
  const save = async (): Promise<boolean> => {
    const changed = Object.fromEntries(
      Object.entries(rules).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(now[name as keyof Rules]),
      ),
    );
    const isDone = await run(() => client.policy.update({ ...changed, expectedVersion: version }), s.saved);
    if (isDone) setTyped((last) => (last === typed ? {} : last));
    return isDone;
  };
  const all = (Object.keys(groups) as (keyof typeof groups)[]).map((group) => (
    <fieldset key={group} className="rules">
      <legend>{s.policy.groups[group]}</legend>
      {groups[group].map((id) => (
        <AnyRule key={id} {...{ id, rules, set, mayChange }} />
      ))}
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
    <Form act={s.save} isBusy={isBusy} onSubmit={save}>
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
        <Rules policy={policy.data} mayChange={isAdmin} />
      ) : policy.error !== null ? (
        <Failed error={policy.error} again={() => void policy.refetch()} />
      ) : (
        <Loading label={s.loading} rows={6} />
      )}
    </Section>
  );
}
