import {
  mapWays,
  NOTICE_TOPICS,
  NOTICE_WAYS,
  type NoticeTopic,
  type NoticeWay,
} from '#core/domain/notices/notice-topics.ts';
import { useDraft } from '../../data/use-draft.ts';
import { usePatch } from '../../data/use-patch.ts';
import type { StatusEntry } from '../../view/blocker.ts';
import { nameTopic, nameWay } from '../../view/notification.ts';
import { Problem } from '../frame/errors.tsx';
import { SaveRow } from './save-row.tsx';

/** Topics of each way in the order of the page, so that what was chosen twice looks the same. */
const draftOf = (repo: Pick<StatusEntry, 'notice_topics'>) =>
  mapWays((way) => NOTICE_TOPICS.filter((topic) => repo.notice_topics[way].includes(topic)).join(' '));

const topicsOf = (chosen: string): readonly NoticeTopic[] =>
  NOTICE_TOPICS.filter((topic) => chosen.split(' ').includes(topic));

/** The choice of topics for each way. */
export function NoticeTopics({ repo }: { readonly repo: StatusEntry }) {
  const stored = draftOf(repo);
  const { draft, edit, saved, undo } = useDraft(stored);
  const patch = usePatch(repo);
  const toggle = (way: NoticeWay, topic: NoticeTopic): void => {
    const chosen = topicsOf(draft[way]);
    const next = NOTICE_TOPICS.filter((each) => (each === topic) !== chosen.includes(each));
    edit({ [way]: next.join(' ') });
  };
  return (
    <form
      className="panel"
      aria-labelledby="topics-title"
      onSubmit={(event) => {
        event.preventDefault();
        const notice_topics = mapWays((way) => topicsOf(draft[way]));
        patch.mutate({ notice_topics }, { onSuccess: (next) => saved(draftOf({ ...repo, ...next })) });
      }}
    >
      <h2 id="topics-title">What each place is told of</h2>
      <p className="hint">
        Of a pull request: once for each head, a refusal once for each reason. Of the queue: once for each
        standstill, and once for each change of the setup.
      </p>
      {NOTICE_WAYS.map((way) => (
        <fieldset key={way} className="topics">
          <legend>{nameWay(way)}</legend>
          {NOTICE_TOPICS.map((topic) => (
            <label key={topic} className="check">
              <input
                type="checkbox"
                checked={topicsOf(draft[way]).includes(topic)}
                onChange={() => toggle(way, topic)}
              />
              <span>{nameTopic(topic)}</span>
            </label>
          ))}
        </fieldset>
      ))}
      <Problem error={patch.error} />
      <div className="row">
        <SaveRow
          name="Save what is told"
          dirty={NOTICE_WAYS.some((way) => draft[way] !== stored[way])}
          patch={patch}
          undo={undo}
        />
      </div>
    </form>
  );
}
