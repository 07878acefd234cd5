import { useState } from 'react';
import {
  NOTICE_TOPICS,
  NOTICE_WAYS,
  type NoticeTopic,
  type NoticeWay,
} from '#core/domain/notices/notice-topics.ts';
import { usePatch } from '../../data/use-patch.ts';
import type { StatusEntry } from '../../view/blocker.ts';
import { nameTopic, nameWay } from '../../view/notification.ts';
import { Button } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';

/** The choice of topics for each way. */
export function NoticeTopics({ repo }: { readonly repo: StatusEntry }) {
  const [draft, setDraft] = useState(repo.notice_topics);
  const patch = usePatch(repo);
  const toggle = (way: NoticeWay, topic: NoticeTopic): void => {
    const chosen = draft[way];
    // In the order of the page, so that what was chosen twice looks the same.
    const next = NOTICE_TOPICS.filter((each) => (each === topic) !== chosen.includes(each));
    setDraft({ ...draft, [way]: next });
  };
  return (
    <form
      className="panel"
      aria-labelledby="topics-title"
      onSubmit={(event) => {
        event.preventDefault();
        patch.mutate({ notice_topics: draft });
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
                checked={draft[way].includes(topic)}
                onChange={() => toggle(way, topic)}
              />
              <span>{nameTopic(topic)}</span>
            </label>
          ))}
        </fieldset>
      ))}
      <Problem error={patch.error} />
      <div className="row">
        <Button
          type="submit"
          kind="main"
          busy={patch.isPending}
          disabled={JSON.stringify(draft) === JSON.stringify(repo.notice_topics)}
        >
          Save what is told
        </Button>
      </div>
    </form>
  );
}
