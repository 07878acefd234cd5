import { usePatch } from '../../data/use-patch.ts';
import type { StatusEntry } from '../../view/blocker.ts';
import { sayFileState } from '../../view/settings-file.ts';
import { Button } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';

/** Settings that the repository keeps in a file on its base: on or off, and where each value that holds comes from. */
export function SettingsFile({ repo }: { readonly repo: StatusEntry }) {
  const patch = usePatch(repo);
  const isRead = repo.settings_file;
  const { values, problems } = repo.file_settings;
  return (
    <section className="panel" aria-labelledby="file-title">
      <div className="panel-head">
        <h2 id="file-title">Settings in the repository</h2>
        <Button
          kind={isRead ? 'quiet' : 'main'}
          busy={patch.isPending}
          onClick={() => patch.mutate({ settings_file: !isRead })}
        >
          {isRead ? 'Do not read the file' : 'Read the file'}
        </Button>
      </div>
      <p className="hint">{sayFileState(repo.file_settings, 'this page')}</p>
      {problems.length > 0 && (
        <ul>
          {problems.map(({ line, column, says }) => (
            <li key={`${line} ${column} ${says}`}>
              line {line}: {says}
            </li>
          ))}
        </ul>
      )}
      {isRead && (
        <table>
          <thead>
            <tr>
              <th scope="col">setting</th>
              <th scope="col">holds</th>
              <th scope="col">comes from</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(values).map(([name, { value, origin }]) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{sayValue(name, value)}</td>
                <td>{origin === 'file' ? 'the file' : 'this page'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Problem error={patch.error} />
    </section>
  );
}

function sayValue(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return value === null && name === 'gate_timeout_minutes' ? 'learned' : String(value);
}
