import { Dialog } from '../parts/dialog.tsx';
import { switchKeys, useKeysOn } from '../parts/keys.ts';
import { t } from '../texts/index.ts';

/** How the key is written on it that goes with others. */
const modifier = /Mac|iP(hone|ad|od)/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

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
                  <kbd key={key}>{key === 'mod' ? modifier : key}</kbd>
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
