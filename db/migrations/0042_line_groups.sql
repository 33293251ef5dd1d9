CREATE TABLE `line_group_people` (
	`group_id` text NOT NULL,
	`email` text NOT NULL,
	`joined_at` integer NOT NULL,
	PRIMARY KEY(`group_id`, `email`),
	FOREIGN KEY (`group_id`) REFERENCES `line_groups`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `line_group_people_by_email` ON `line_group_people` (`email`);--> statement-breakpoint
CREATE TABLE `line_groups` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`gpus` integer NOT NULL,
	`places` integer NOT NULL,
	`starts_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	`code` text,
	`made_at` integer NOT NULL,
	`released_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `line_groups_code_unique` ON `line_groups` (`code`);--> statement-breakpoint
CREATE INDEX `line_groups_by_size` ON `line_groups` (`gpus`,`ends_at`);--> statement-breakpoint
CREATE INDEX `line_groups_open` ON `line_groups` (`ends_at`) WHERE released_at IS NULL;