/** Budgets of the organization, or of one project and its stories: how much is used, and what happens at the limit. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Budget } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { agentsQuery } from '../data/people-queries.ts';
import { projectsQuery } from '../data/queries.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { Icon } from '../components/icons.tsx';
import { actorNameOf } from '../components/people.tsx';
import { texts } from '../messages/settings.ts';
import { budgetTexts, formatMicros } from '../messages/usage.ts';
import {
  Form,
  FormField,
  joinFacts,
  ListItem,
  OpenFormButton,
  QueryList,
  Section,
  SelectField,
  useSettingsWrite,
} from './components.tsx';
import { AmountField, CurrencyField, microsPerUnit, toMicros } from './money-fields.tsx';
import { budgetsQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

type Scope = Budget['scope'];

interface BudgetTarget {
  readonly scope: Scope;
  /** The id of the project or agent, or the key of the story; empty for the organization. */
  readonly id: string;
}

interface BudgetTargetFieldsProps {
  readonly target: BudgetTarget;
  /** The project whose budgets are shown; undefined for those of the organization. */
  readonly projectId: string | undefined;
  readonly onChange: (target: BudgetTarget) => void;
}

function BudgetTargetFields({ target: { scope, id }, projectId, onChange }: BudgetTargetFieldsProps) {
  const client = useClient();
  const isAdmin = useIsAdmin();
  const projects = useQuery(projectsQuery(client)).data ?? [];
  const agents = useQuery({ ...agentsQuery(client), enabled: scope === 'agent' }).data ?? [];
  const scopes: readonly Scope[] =
    isAdmin && projectId === undefined ? ['org', 'project', 'agent', 'story'] : ['project', 'story'];
  const options = scope === 'agent' ? agents : projects.filter(({ myRole }) => isAdmin || myRole === 'lead');
  return (
    <div className="form-row">
      <SelectField
        label={budgetTexts.scope}
        value={scope}
        optionLabels={
          Object.fromEntries(scopes.map((one) => [one, budgetTexts.scopes[one]])) as Record<Scope, string>
        }
        onChange={(chosen) => onChange({ scope: chosen, id: '' })}
      />
      {scope === 'story' && (
        <FormField name={budgetTexts.target.story} hint={budgetTexts.storyHint}>
          <input
            className="field"
            required
            maxLength={200}
            value={id}
            onChange={({ target }) => onChange({ scope, id: target.value })}
          />
        </FormField>
      )}
      {(scope === 'agent' || (scope === 'project' && projectId === undefined)) && (
        <FormField name={budgetTexts.target[scope]}>
          <select
            className="field"
            required
            value={id}
            onChange={({ target }) => onChange({ scope, id: target.value })}
          >
            <option value="">{budgetTexts.choose}</option>
            {options.map((option) => (
              <option key={option.id} value={option.id}>
                {option.name}
              </option>
            ))}
          </select>
        </FormField>
      )}
    </div>
  );
}

interface BudgetFormProps {
  /** The budget to change; null for a new one. */
  readonly budget: Budget | null;
  readonly projectId: string | undefined;
  readonly onClose: () => void;
}

function BudgetForm({ budget, projectId, onClose }: BudgetFormProps) {
  const { budgets } = useClient();
  const isAdmin = useIsAdmin();
  const [target, setTarget] = useState<BudgetTarget>({
    scope: budget?.scope ?? (isAdmin && projectId === undefined ? 'org' : 'project'),
    id: budget?.target?.id ?? '',
  });
  const [amount, setAmount] = useState(budget === null ? '' : String(budget.amountMicros / microsPerUnit));
  const [currency, setCurrency] = useState(budget?.currency ?? 'USD');
  const [period, setPeriod] = useState(budget?.period ?? 'month');
  const [action, setAction] = useState(budget?.action ?? 'stop');
  const { isBusy, run } = useSettingsWrite();
  const { scope } = target;
  const targetId = scope === 'project' ? (projectId ?? target.id) : target.id.trim();
  const save = async (): Promise<boolean> => {
    const isDone = await run(
      () =>
        budgets.set({
          ...{ scope, period, action, currency: currency.trim().toUpperCase() },
          ...{ amountMicros: toMicros(amount), ...(scope !== 'org' && { targetId }) },
        }),
      budgetTexts.saved,
    );
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form submitLabel={texts.save} isBusy={isBusy} onSubmit={save} onCancel={onClose}>
      {budget === null && <BudgetTargetFields target={target} projectId={projectId} onChange={setTarget} />}
      <div className="form-row">
        <AmountField name={budgetTexts.amount} min={0.000001} value={amount} onChange={setAmount} />
        <CurrencyField value={currency} onChange={setCurrency} />
        {budget === null && (
          <SelectField
            label={budgetTexts.period}
            value={period}
            optionLabels={budgetTexts.periods}
            onChange={setPeriod}
          />
        )}
        <SelectField
          label={budgetTexts.action}
          value={action}
          optionLabels={budgetTexts.actions}
          onChange={setAction}
        />
      </div>
      <p className="muted">
        {budgetTexts.actionHints[action]} {budget === null && budgetTexts.replaces}
      </p>
    </Form>
  );
}

const budgetTones = { ok: 'none', warning: 'wait', exceeded: 'bad' } as const;

function BudgetRow({
  budget,
  projectId,
}: {
  readonly budget: Budget;
  readonly projectId: string | undefined;
}) {
  const { budgets } = useClient();
  const [isEditing, setEditing] = useState(false);
  const { isBusy, run } = useSettingsWrite();
  const { id, target, amountMicros, currency, period, action, spentMicros, state, setBy } = budget;
  const name = target?.name ?? budgetTexts.scopes.org;
  if (isEditing)
    return (
      <li>
        <BudgetForm budget={budget} projectId={projectId} onClose={() => setEditing(false)} />
      </li>
    );
  const percent = Math.floor((100 * spentMicros) / amountMicros);
  const isStopping = state === 'exceeded' && action === 'stop';
  return (
    <ListItem
      title={
        <span className="budget-name">
          {name}
          {state !== 'ok' && (
            <span className="state" data-tone={budgetTones[state]}>
              <Icon name="warn" size={13} />
              {isStopping ? budgetTexts.stopped : budgetTexts.states[state]}
            </span>
          )}
        </span>
      }
      details={
        <>
          <span className="tabular">
            {joinFacts(
              budgetTexts.spent(formatMicros(spentMicros, currency), formatMicros(amountMicros, currency)),
              budgetTexts.percent(percent),
              budgetTexts.periods[period].toLowerCase(),
              budgetTexts.atLimit[action],
              budgetTexts.setBy(actorNameOf(setBy)),
            )}
          </span>
          <div className="share budget-share" data-state={state} aria-hidden="true">
            <span style={{ inlineSize: `${Math.min(100, percent)}%` }} />
          </div>
        </>
      }
    >
      <button
        type="button"
        className="button"
        data-kind="quiet"
        disabled={isBusy}
        onClick={() => setEditing(true)}
      >
        {texts.edit}
        <span className="sr-only"> {name}</span>
      </button>
      <ConfirmButton
        actionLabel={texts.remove}
        subject={name}
        title={budgetTexts.deleteTitle(name)}
        explanation={budgetTexts.deleteWhy}
        onConfirm={() => run(() => budgets.delete({ budgetId: id }))}
      />
    </ListItem>
  );
}

export function Budgets({ projectId }: { readonly projectId?: string }) {
  const client = useClient();
  const { member } = useIdentity();
  const isAdmin = useIsAdmin();
  const [isMaking, setMaking] = useState(false);
  const budgets = useQuery(budgetsQuery(client, projectId));
  const projects = useQuery(projectsQuery(client)).data ?? [];
  const maySet = isAdmin || (member.role !== 'viewer' && projects.some(({ myRole }) => myRole === 'lead'));
  return (
    <Section
      id="budgets"
      title={budgetTexts.title}
      intro={projectId === undefined ? budgetTexts.intro : budgetTexts.introProject}
      headerAction={
        maySet && !isMaking && <OpenFormButton name={budgetTexts.set} onOpen={() => setMaking(true)} />
      }
    >
      {isMaking && <BudgetForm budget={null} projectId={projectId} onClose={() => setMaking(false)} />}
      <QueryList
        query={budgets}
        emptyTitle={budgetTexts.empty}
        emptyWhy={maySet ? budgetTexts.emptyWhy : budgetTexts.emptyForOthers}
      >
        {(budget) => <BudgetRow key={budget.id} budget={budget} projectId={projectId} />}
      </QueryList>
    </Section>
  );
}
