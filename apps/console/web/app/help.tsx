import { Dialog } from '../parts/dialog.tsx';
import { switchKeys, useKeysOn } from '../parts/keys.ts';
import { t } from '../texts/index.ts';

/** Which keys do what, and the switch for those without a modifier. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  const isOn = useKeysOn();
  return (
    <Dialog label={t.help.title} onClose={onClose}>
      <div className="dialog-body">
        <h2>{t.help.title}</h2>
        <dl className="keys">
          {t.help.keys.map(([keys, meaning]) => (
            <div key={meaning} className="fact">
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <label className="switch">
          <input type="checkbox" checked={isOn} onChange={({ target }) => switchKeys(target.checked)} />
          {t.help.single}
        </label>
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
