import type { ReactNode } from 'react'
import { FeedbackForm } from '../islands/FeedbackForm.tsx'
import { ProfileForm, type ProfileFormProps } from '../islands/ProfileForm.tsx'
import { Card } from '../ui/Card.tsx'
import { Island } from './Island.tsx'

type AccountOverviewProps = ProfileFormProps & {
  /** The subscription and billing cards. */
  subscription?: ReactNode
  billing?: ReactNode
}

export function AccountOverview({ subscription, billing, ...profile }: AccountOverviewProps) {
  return (
    <div className="page">
      <div className="page-head">
        <h1>Account</h1>
      </div>
      <div className="grid grid-2">
        <div className="grid">
          <Card title="Profile">
            <Island name="ProfileForm" of={ProfileForm} props={profile} />
          </Card>
          <Card title="Security and data">
            <ul className="plain-list">
              <li>
                <a href="/account_security">Two-factor sign-in</a>
              </li>
              <li>
                <a href="/devices">Signed-in devices</a>
              </li>
              <li>
                <a href="/activity">Activity</a>
              </li>
              <li>
                <a href="/api_tokens">API tokens</a>
              </li>
              <li>
                <a href="/webhooks">Webhooks</a>
              </li>
              <li>
                <a href="/secrets">Secrets</a>
              </li>
              <li>
                <a href="/registries">Registry logins</a>
              </li>
              <li>
                <a href="/mails">Emails</a>
              </li>
              <li>
                <a href="/idle">Idle servers</a>
              </li>
              <li>
                <a href="/environments">Build Your Own</a>
              </li>
              <li>
                <a href="/api/v1/users/export" download>
                  Download my data
                </a>
              </li>
              <li>
                <a href="/close_account">Close my account</a>
              </li>
            </ul>
          </Card>
        </div>
        <div className="grid">
          {subscription}
          {billing}
          <Card title="Feedback">
            <Island name="FeedbackForm" of={FeedbackForm} props={{ csrfToken: profile.csrfToken }} />
          </Card>
        </div>
      </div>
    </div>
  )
}
