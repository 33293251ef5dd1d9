CREATE TABLE `call_counts` (
	`system` text NOT NULL,
	`call` text NOT NULL,
	`outcome` text NOT NULL,
	`count` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`system`, `call`, `outcome`)
);
--> statement-breakpoint
CREATE TABLE `incidents` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_open_incident_per_kind` ON `incidents` (`kind`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX `incidents_by_end` ON `incidents` (`ended_at`);--> statement-breakpoint
CREATE TABLE `status_checks` (
	`id` text PRIMARY KEY NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `jobs_ended` ON `jobs` (`updated_at`) WHERE run_at IS NULL;