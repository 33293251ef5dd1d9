import type { ReactNode } from 'react'
import { FeedbackForm } from '../islands/FeedbackForm.tsx'
import { ProfileForm, type ProfileFormProps } from '../islands/ProfileForm.tsx'
import { Card } from '../ui/Card.tsx'
import { Island } from './Island.tsx'
import { SettingsPage } from './settings/SettingsPage.tsx'

type AccountOverviewProps = ProfileFormProps & {
  /** The subscription and billing cards. */
  subscription?: ReactNode
  billing?: ReactNode
}

/** The first settings page: the profile, what keeps the account safe, and the state of its plan and its bills. */
export function AccountOverview({ subscription, billing, ...profile }: AccountOverviewProps) {
  return (
    <SettingsPage here="/account_overview" title="Account">
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
                <a href="/mails">Emails</a>
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
            <Island
              name="FeedbackForm"
              of={FeedbackForm}
              props={{ csrfToken: profile.csrfToken, typed: profile.flash?.values?.message }}
            />
          </Card>
        </div>
      </div>
    </SettingsPage>
  )
}
