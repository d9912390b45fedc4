/** The rules of the organization, each with the value that is in effect. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type PolicyRecord } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { LoadError, Loading } from '../components/states.tsx';
import { formatDuration } from '../messages/index.ts';
import { evidenceKinds, texts } from '../messages/settings.ts';
import { SelectField, Form, Section, useSettingsWrite } from './components.tsx';
import { policyQuery, providersQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

type PolicyRules = Omit<PolicyRecord, 'version'>;
type RuleNamesOfType<Kind> = {
  [Key in keyof PolicyRules]: PolicyRules[Key] extends Kind ? Key : never;
}[keyof PolicyRules];

const rulesByGroup: Readonly<Record<keyof typeof texts.policy.groups, readonly (keyof PolicyRules)[]>> = {
  leases: ['defaultLeaseTtlSeconds', 'maxLeaseTtlSeconds', 'maxLockTtlSeconds'],
  reviews: ['requiredApprovals', 'agentsMayReview', 'authorMayApprove'],
  work: [
    ...(['requireSpecToStart', 'wipLimits', 'agentsMayComplete', 'completeStoryOnMerge'] as const),
    ...(['closeParents', 'requireMergeProof', 'mergeProof', 'requireEvidence'] as const),
  ],
  signIn: ['requirePasskey', 'allowedIdentityProviders'],
  organization: ['allowedEmailDomains', 'gamificationEnabled', 'auditRetentionDays'],
};

interface RuleFieldProps {
  readonly id: keyof PolicyRules;
  readonly hint?: string;
  readonly children: ReactNode;
}

const RuleField = ({ id, hint, children }: RuleFieldProps) => (
  <div className="rule">
    <label htmlFor={id}>{texts.policy.names[id]}</label>
    <div className="rule-value">
      {children}
      {hint !== undefined && <span className="hint">{hint}</span>}
    </div>
  </div>
);

interface RuleProps {
  readonly rules: PolicyRules;
  readonly changeRules: (change: Partial<PolicyRules>) => void;
  readonly mayChange: boolean;
}

const NumberRule = ({
  id,
  hint,
  rules,
  changeRules,
  mayChange,
}: RuleProps & { readonly id: RuleNamesOfType<number>; readonly hint: string }) => (
  <RuleField id={id} hint={hint}>
    <input
      id={id}
      className="field"
      type="number"
      inputMode="numeric"
      min={0}
      required
      disabled={!mayChange}
      value={rules[id]}
      onChange={({ target }) => changeRules({ [id]: target.valueAsNumber })}
    />
  </RuleField>
);

const FlagRule = ({
  id,
  rules,
  changeRules,
  mayChange,
}: RuleProps & { readonly id: RuleNamesOfType<boolean> }) => (
  <RuleField id={id}>
    <input
      id={id}
      type="checkbox"
      disabled={!mayChange}
      checked={rules[id]}
      onChange={({ target }) => changeRules({ [id]: target.checked })}
    />
  </RuleField>
);

const ChoiceRule = <Id extends 'mergeProof' | 'wipLimits'>({
  id,
  optionLabels,
  hint,
  rules,
  changeRules,
  mayChange,
}: RuleProps & {
  readonly id: Id;
  readonly optionLabels: Readonly<Record<PolicyRules[Id], string>>;
  readonly hint?: string;
}) => (
  <div className="rule">
    <span>{texts.policy.names[id]}</span>
    <div className="rule-value">
      <SelectField
        label={texts.policy.names[id]}
        isHidden
        disabled={!mayChange}
        value={rules[id]}
        optionLabels={optionLabels}
        onChange={(value) => changeRules({ [id]: value })}
      />
      {hint !== undefined && <span className="hint">{hint}</span>}
    </div>
  </div>
);

function DomainsRule({ rules, changeRules, mayChange }: RuleProps) {
  const [text, setText] = useState(rules.allowedEmailDomains.join(' '));
  return (
    <RuleField id="allowedEmailDomains" hint={texts.policy.domainsHint}>
      <input
        id="allowedEmailDomains"
        className="field"
        disabled={!mayChange}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          changeRules({ allowedEmailDomains: target.value.split(/[\s,]+/).filter((part) => part !== '') });
        }}
      />
    </RuleField>
  );
}

interface ListRuleProps<Value> extends RuleProps {
  readonly id: RuleNamesOfType<readonly string[]>;
  readonly options: readonly { readonly id: Value; readonly name: string }[];
  readonly selected: readonly Value[];
  readonly hint: string;
}

const ListRule = <Value extends string>({
  id: rule,
  options,
  selected,
  hint,
  changeRules,
  mayChange,
}: ListRuleProps<Value>) => (
  <fieldset className="rule rule-list">
    <legend className="sr-only">{texts.policy.names[rule]}</legend>
    <span>{texts.policy.names[rule]}</span>
    <div>
      {options.map(({ id, name }) => (
        <label key={id} className="switch">
          <input
            type="checkbox"
            disabled={!mayChange}
            checked={selected.includes(id)}
            onChange={({ target }) =>
              changeRules({
                [rule]: target.checked ? [...selected, id] : selected.filter((one) => one !== id),
              })
            }
          />
          {name}
        </label>
      ))}
      <span className="hint">{hint}</span>
    </div>
  </fieldset>
);

function ProvidersRule(props: RuleProps) {
  const providers = useQuery(providersQuery(useClient())).data?.items;
  return (
    <ListRule
      id="allowedIdentityProviders"
      options={providers ?? []}
      selected={props.rules.allowedIdentityProviders}
      hint={providers?.length === 0 ? texts.providers.empty : texts.policy.providersHint}
      {...props}
    />
  );
}

const evidenceOptions = evidenceKinds.map((id) => ({ id, name: texts.policy.evidence[id] }));

function RuleInput({ id, ...rewriting }: RuleProps & { readonly id: keyof PolicyRules }) {
  const { rules, mayChange } = rewriting;
  switch (id) {
    case 'mergeProof':
      return (
        <ChoiceRule
          id={id}
          optionLabels={texts.policy.mergeProofs}
          hint={texts.policy.mergeProofHint}
          {...rewriting}
        />
      );
    case 'wipLimits':
      return <ChoiceRule id={id} optionLabels={texts.policy.wip} {...rewriting} />;
    case 'allowedEmailDomains':
      return <DomainsRule {...rewriting} />;
    case 'allowedIdentityProviders':
      return mayChange ? <ProvidersRule {...rewriting} /> : null;
    case 'requireEvidence':
      return (
        <ListRule
          id={id}
          options={evidenceOptions}
          selected={rules.requireEvidence}
          hint={texts.policy.evidenceHint}
          {...rewriting}
        />
      );
    case 'requiredApprovals':
      return <NumberRule id={id} hint="" {...rewriting} />;
    case 'auditRetentionDays':
      return <NumberRule id={id} hint={texts.policy.days} {...rewriting} />;
    case 'defaultLeaseTtlSeconds':
    case 'maxLeaseTtlSeconds':
    case 'maxLockTtlSeconds': {
      const seconds = Number.isFinite(rules[id]) ? rules[id] : 0;
      return (
        <NumberRule id={id} hint={texts.policy.seconds(formatDuration(seconds * 1_000))} {...rewriting} />
      );
    }
    default:
      return <FlagRule id={id} {...rewriting} />;
  }
}

function PolicyRules({ policy, mayChange }: { readonly policy: PolicyRecord; readonly mayChange: boolean }) {
  const client = useClient();
  const { version, ...now } = policy;
  /**
   * The rules that the reader has changed and not yet saved. The form shows the server's value for all other
   * rules.
   */
  const [typed, setTyped] = useState<Partial<PolicyRules>>({});
  const rules = { ...now, ...typed };
  const { isBusy, run } = useSettingsWrite();
  const set = (change: Partial<PolicyRules>): void => setTyped({ ...typed, ...change });
  const save = async (): Promise<boolean> => {
    const changed = Object.fromEntries(
      Object.entries(rules).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(now[name as keyof PolicyRules]),
      ),
    );
    const isDone = await run(
      () => client.policy.update({ ...changed, expectedVersion: version }),
      texts.saved,
    );
    if (isDone) setTyped((last) => (last === typed ? {} : last));
    return isDone;
  };
  const all = (Object.keys(rulesByGroup) as (keyof typeof rulesByGroup)[]).map((group) => (
    <fieldset key={group} className="rules">
      <legend>{texts.policy.groups[group]}</legend>
      {rulesByGroup[group].map((id) => (
        <RuleInput key={id} {...{ id, rules, changeRules: set, mayChange }} />
      ))}
    </fieldset>
  ));
  if (!mayChange)
    return (
      <>
        <p className="muted">{texts.policy.onlyAdmins}</p>
        {all}
      </>
    );
  return (
    <Form submitLabel={texts.save} isBusy={isBusy} onSubmit={save}>
      {all}
    </Form>
  );
}

export function PolicySettings() {
  const policy = useQuery(policyQuery(useClient()));
  const isAdmin = useIsAdmin();
  return (
    <Section id="policy" title={texts.sections.policy} intro={texts.policy.intro}>
      {policy.data !== undefined ? (
        <PolicyRules policy={policy.data} mayChange={isAdmin} />
      ) : policy.error !== null ? (
        <LoadError error={policy.error} onRetry={() => void policy.refetch()} />
      ) : (
        <Loading label={texts.loading} rows={6} />
      )}
    </Section>
  );
}
