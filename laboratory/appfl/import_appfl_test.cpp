#include "laboratory/appfl/import_appfl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "experiment/config/config.h"
#include "laboratory/expand.h"

namespace memduel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

AppflFile file(const std::string& name) {
  return {name, read_file(std::string(MEMDUEL_APPFL_TESTDATA "/") + name)};
}

/// `name` with every `from` replaced.
AppflFile changed(const std::string& name, const std::string& from, const std::string& to) {
  AppflFile result = file(name);
  std::size_t at = result.text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  for (; at != std::string::npos; at = result.text.find(from, at + to.size()))
    result.text.replace(at, from.size(), to);
  return result;
}

const AppflFile kServer = file("server_resnet_dummy.yaml");
const AppflFile kFirst = file("client_1_resnet_dummy.yaml");
const AppflFile kSecond = file("client_2_resnet_dummy.yaml");

std::string losses_of(const ImportedExperiment& imported) {
  std::string text;
  for (const ImportLoss& loss : imported.losses) text += describe_loss(loss) + "\n";
  return text;
}

std::string losses_with(const AppflFile& server, const std::vector<AppflFile>& clients) {
  return losses_of(import_appfl(server, clients));
}

std::string refusal(const AppflFile& server, const std::vector<AppflFile>& clients) {
  try {
    import_appfl(server, clients);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

/// The server's file with one more line below train_configs.
AppflFile with_train_setting(const std::string& line) {
  return changed("server_resnet_dummy.yaml", "    mode: \"step\"\n",
                 "    mode: \"step\"\n    " + line + "\n");
}

TEST(ImportAppfl, ResnetDummyIsTheExperimentOfItsFiles) {
  const auto imported = import_appfl(kServer, {kFirst, kSecond});
  const auto expected = nlohmann::json::parse(R"({
    "kind": "federated", "clients": 2, "rounds": 5, "model": "resnet18",
    "dataset": {"name": "dummy-cifar10", "train_samples": 64, "test_samples": 32},
    "local_steps": 50, "batch_size": 16, "validation_batch_size": 16,
    "pre_validation": false, "client_validation": true, "server_validation": false,
    "send": "weights", "optimizer": {"name": "adam", "learning_rate": 0.01}, "weights": "equal",
    "transport": {"kind": "grpc", "max_message_bytes": 10485760}, "deadline_seconds": 18000})");
  EXPECT_EQ(nlohmann::json(imported.experiment.at("workload")), expected);
  EXPECT_EQ(imported.experiment.at("name"), "server_resnet_dummy");
  std::vector<std::string> arms;
  for (const auto& arm : imported.experiment.at("arms"))
    arms.push_back(arm.at("name").get<std::string>() + " " + arm.at("preset").get<std::string>());
  EXPECT_THAT(arms, ::testing::ElementsAre("original appfl-original", "as-coded appfl-as-coded",
                                           "optimized appfl-optimized", "minimal appfl-minimal"));
  EXPECT_THAT(imported.notes, ::testing::ElementsAre(HasSubstr("as-coded")));
}

TEST(ImportAppfl, EveryLossNamesFileLineKeyAndReason) {
  const std::string losses = losses_with(kServer, {kFirst, kSecond});
  EXPECT_THAT(losses, HasSubstr("server_resnet_dummy.yaml:44 "
                                "server_configs.comm_configs.grpc_configs.server_uri: the roles"));
  EXPECT_THAT(losses, HasSubstr("client_1_resnet_dummy.yaml:2 client_id: the clients are named "
                                "client-1, client-2, … (and in 1 more)"));
  EXPECT_THAT(losses, HasSubstr("client_1_resnet_dummy.yaml:19 "
                                "comm_configs.grpc_configs.max_message_size: both sides have one "
                                "limit: the server's 10485760"));
  EXPECT_THAT(losses, HasSubstr("client_1_resnet_dummy.yaml:21 "
                                "comm_configs.grpc_configs.use_model_chunking: APPFL needs "
                                "chunking at both ends, and the server leaves it off"));
  EXPECT_THAT(losses, Not(HasSubstr("num_local_steps"))) << "what is carried is no loss";
  EXPECT_THAT(losses, Not(HasSubstr("model_path")));
}

TEST(ImportAppfl, PrintedExperimentLoadsAndQuotesTheLosses) {
  const auto imported = import_appfl(kServer, {kFirst, kSecond});
  const std::string text = render_import(imported, {"server.yaml", "a.yaml", "b.yaml"});
  EXPECT_THAT(text, ::testing::StartsWith(
                        "// Imported by memduel import-appfl from server.yaml, a.yaml, b.yaml.\n"));
  EXPECT_THAT(text, HasSubstr("//   without effect on memory (names, logs, plots): client_id, "));
  const Experiment loaded = parse_experiment(text, "imported.json", "/", {}, ask_laboratory);
  EXPECT_EQ(loaded.arms.size(), 4U);
  EXPECT_EQ(loaded.workload.at("rounds"), 5);
}

TEST(ImportAppfl, MnistCompressesWithZfpInPlaceOfSz2AndWithoutTheMinimalArm) {
  const auto imported = import_appfl(file("server_mnist.yaml"),
                                     {file("client_1_mnist.yaml"), file("client_2_mnist.yaml")});
  const auto& workload = imported.experiment.at("workload");
  EXPECT_EQ(workload.at("model"), "mnist-cnn");
  EXPECT_EQ(workload.at("dataset").at("partition"), "class_noniid");
  EXPECT_EQ(workload.at("weights"), "sample_size");
  EXPECT_EQ(workload.at("pre_validation"), true);
  EXPECT_EQ(workload.at("device").at("server"), "cpu");
  EXPECT_EQ(workload.at("device").at("client"), "cuda");
  EXPECT_EQ(workload.at("transport").at("max_message_bytes"), 1048576);
  ASSERT_EQ(imported.experiment.at("arms").size(), 3U);
  for (const auto& arm : imported.experiment.at("arms"))
    EXPECT_EQ(arm.at("optimizations").at("compression"), "zfp");
  const std::string losses = losses_of(imported);
  EXPECT_THAT(losses, HasSubstr("lossy_compressor: SZ2Compressor is substituted by zfp"));
  EXPECT_THAT(losses, HasSubstr("enable_compression: arm minimal is left out"));
  EXPECT_THAT(losses, Not(HasSubstr("device")));
  EXPECT_THAT(losses, HasSubstr("dataset_name: of MNIST's 10,000 test images"));
  EXPECT_THAT(losses, Not(HasSubstr("error_bound")));
  EXPECT_THAT(losses, Not(HasSubstr("param_cutoff")));
  EXPECT_THAT(losses, Not(HasSubstr("epsilon"))) << "without effect where use_dp is False";
}

TEST(ImportAppfl, OtherCompressorSettingsAreLost) {
  AppflFile server = changed("server_mnist.yaml", "1e-3", "1e-2");
  server.text.replace(server.text.find("\"REL\""), 5, "\"ABS\"");
  server.text.replace(server.text.find("cutoff: 1024"), 12, "cutoff: 512");
  const std::string losses =
      losses_with(server, {file("client_1_mnist.yaml"), file("client_2_mnist.yaml")});
  EXPECT_THAT(losses, AllOf(HasSubstr("error_bound: the bound is 0.001"),
                            HasSubstr("param_cutoff: tensors of up to 1024 elements"),
                            HasSubstr("error_bounding_mode: the bound is relative")));
}

TEST(ImportAppfl, CompressedStatesTravelWhole) {
  const std::string chunking =
      "      use_ssl: False\n      use_model_chunking: True\n      model_chunk_size: 1048576\n";
  const std::string at_client = "    use_ssl: False\n    use_model_chunking: True\n";
  const auto imported =
      import_appfl(changed("server_mnist.yaml", "      use_ssl: False\n", chunking),
                   {changed("client_1_mnist.yaml", "    use_ssl: False\n", at_client)});
  for (const auto& arm : imported.experiment.at("arms"))
    EXPECT_FALSE(arm.at("optimizations").contains("model_chunking"));
  EXPECT_THAT(losses_of(imported), HasSubstr("use_model_chunking: compressed states travel whole"));
}

TEST(ImportAppfl, LanguageModelIsCarriedWithoutTrainingInChunks) {
  const auto imported =
      import_appfl(file("server_llm_dummy.yaml"), {file("client_1_llm_dummy.yaml")});
  const auto& workload = imported.experiment.at("workload");
  EXPECT_EQ(workload.at("kind"), "state-dict");
  EXPECT_EQ(workload.at("model"), "llama-3.1-8b");
  EXPECT_EQ(workload.at("state_bytes"), 1073741824);
  EXPECT_EQ(workload.at("clients"), 2) << "one file stands for all clients";
  ASSERT_EQ(imported.experiment.at("arms").size(), 4U);
  for (const auto& arm : imported.experiment.at("arms")) {
    EXPECT_EQ(arm.at("optimizations").at("model_chunking"), 268435456);
    EXPECT_EQ(arm.at("optimizations").at("upload_state"), "reference");
    EXPECT_EQ(arm.at("optimizations").value("aggregate", "the preset's"),
              arm.at("name") == "original" ? "in_place" : "the preset's")
        << "APPFL averages chunks in place, whatever optimize_memory says";
  }
  EXPECT_THAT(losses_of(imported),
              HasSubstr("data_configs.dataset_name: carried without training"));
}

TEST(ImportAppfl, OptimizeMemoryFlagsSayWhichArmTheFilesRun) {
  const auto clients_off = [](const std::string& name) {
    return changed(name, "    use_ssl: False\n",
                   "    use_ssl: False\n    optimize_memory: False\n");
  };
  AppflFile server = with_train_setting("optimize_memory: False");
  const auto insert_after = [&](const std::string& line, const std::string& more) {
    server.text.insert(server.text.find(line) + line.size(), more);
  };
  const std::vector<AppflFile> clients = {clients_off("client_1_resnet_dummy.yaml"),
                                          clients_off("client_2_resnet_dummy.yaml")};
  EXPECT_THAT(losses_with(server, clients),
              HasSubstr("optimize_memory: off here and on (APPFL's default) elsewhere"));
  insert_after("  device: \"cpu\"\n", "  optimize_memory: False\n");
  insert_after("    same_init_model: True\n", "    optimize_memory: False\n");
  insert_after("    client_weights_mode: \"equal\"\n", "    optimize_memory: False\n");
  insert_after("      use_ssl: False\n", "      optimize_memory: False\n");
  const auto imported = import_appfl(server, clients);
  EXPECT_THAT(imported.notes, ::testing::ElementsAre(HasSubstr("arm original")));
  EXPECT_THAT(losses_of(imported), Not(HasSubstr("optimize_memory")));
}

TEST(ImportAppfl, ServersSettingWinsOverAClientsOwn) {
  const AppflFile own = changed("client_1_resnet_dummy.yaml", "  device: \"cpu\"\n",
                                "  device: \"cpu\"\n  num_local_steps: 7\n");
  const auto imported = import_appfl(kServer, {own, kSecond});
  EXPECT_EQ(imported.experiment.at("workload").at("local_steps"), 50);
  EXPECT_THAT(losses_of(imported),
              HasSubstr("client_1_resnet_dummy.yaml:5 train_configs.num_local_steps: the server "
                        "hands out \"50\" (server_resnet_dummy.yaml, line 6), which wins over "
                        "\"7\""));
}

TEST(ImportAppfl, ClientsThatDifferLoseToTheFirst) {
  const AppflFile other =
      changed("client_2_resnet_dummy.yaml", "samples_per_client: 64", "samples_per_client: 128");
  const auto imported = import_appfl(kServer, {kFirst, other});
  EXPECT_EQ(imported.experiment.at("workload").at("dataset").at("train_samples"), 64);
  EXPECT_THAT(losses_of(imported),
              HasSubstr("client_2_resnet_dummy.yaml:14 "
                        "data_configs.dataset_kwargs.samples_per_client: all clients are given one "
                        "value: \"64\" of client_1_resnet_dummy.yaml, line 14, is used"));
}

TEST(ImportAppfl, EpochsBecomeSteps) {
  AppflFile server = changed("server_resnet_dummy.yaml", "mode: \"step\"", "mode: \"epoch\"");
  server.text.replace(server.text.find("num_local_steps: 50"), 19, "num_local_epochs: 3");
  const auto imported = import_appfl(server, {kFirst, kSecond});
  // 64 samples in batches of 16 are 4 steps.
  EXPECT_EQ(imported.experiment.at("workload").at("local_steps"), 12);
  EXPECT_THAT(losses_of(imported), HasSubstr("num_local_epochs: replayed as 12 steps"));
}

TEST(ImportAppfl, WhatCannotBeReplayedIsNamed) {
  const AppflFile server = with_train_setting("send_gradient: True");
  EXPECT_EQ(import_appfl(server, {kFirst, kSecond}).experiment.at("workload").at("send"),
            "gradient");
  const auto loses = [&](const std::string& line) {
    return losses_with(with_train_setting(line), {kFirst, kSecond});
  };
  EXPECT_THAT(loses("num_workers: 4"), HasSubstr("num_workers: memduel has no counterpart"));
  EXPECT_THAT(losses_with(changed("server_resnet_dummy.yaml", "use_dp: False", "use_dp: True"),
                          {kFirst, kSecond}),
              HasSubstr("use_dp: no differential privacy here"));
  EXPECT_THAT(losses_with(changed("server_resnet_dummy.yaml", "SyncScheduler", "AsyncScheduler"),
                          {kFirst, kSecond}),
              HasSubstr("scheduler: replayed as SyncScheduler"));
  EXPECT_THAT(
      losses_with(changed("server_resnet_dummy.yaml", "FedAvgAggregator", "FedAdamAggregator"),
                  {kFirst, kSecond}),
      HasSubstr("aggregator: replayed as FedAvgAggregator"));
  EXPECT_THAT(
      losses_with(changed("server_resnet_dummy.yaml", "\"Adam\"", "\"AdamW\""), {kFirst, kSecond}),
      HasSubstr("optim: replayed as Adam"));
}

TEST(ImportAppfl, ContradictionsNameBothPlaces) {
  EXPECT_THAT(refusal(changed("server_resnet_dummy.yaml", "num_clients: 2", "num_clients: 3"),
                      {kFirst, kSecond}),
              AllOf(HasSubstr("server_resnet_dummy.yaml, line 31, server_configs.num_clients"),
                    HasSubstr("found 3 clients, and 2 client files")));
  EXPECT_THAT(refusal(changed("server_resnet_dummy.yaml", "    same_init_model: True",
                              "    num_clients: 4"),
                      {kFirst, kSecond}),
              AllOf(HasSubstr("found 4 clients, and 2 in line 31")));
  EXPECT_THAT(refusal(kServer, {kFirst, changed("client_2_resnet_dummy.yaml", "get_dummy_cifar10",
                                                "get_cifar10")}),
              AllOf(HasSubstr("client_2_resnet_dummy.yaml, line 10"),
                    HasSubstr("client_1_resnet_dummy.yaml, line 10")));
  EXPECT_THAT(refusal(kServer, {file("client_1_mnist.yaml"), file("client_2_mnist.yaml")}),
              AllOf(HasSubstr("client_1_mnist.yaml, line 10"),
                    HasSubstr("model resnet18 of server_resnet_dummy.yaml cannot read")));
  EXPECT_THAT(refusal(kServer, {kFirst, kFirst}), HasSubstr("same file twice"));
}

TEST(ImportAppfl, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_THAT(refusal(changed("server_resnet_dummy.yaml", "\"ResNet18\"", "\"ResNet19\""),
                      {kFirst, kSecond}),
              AllOf(HasSubstr("server_resnet_dummy.yaml, line 24, "
                              "client_configs.model_configs.model_name"),
                    HasSubstr("found \"ResNet19\", expected CNN, ResNet18"),
                    HasSubstr("did you mean \"ResNet18\"")));
  EXPECT_THAT(
      refusal(kServer, {changed("client_1_resnet_dummy.yaml", "get_dummy_cifar10", "get_adult")}),
      HasSubstr("expected get_mnist, get_cifar10, get_dummy_cifar10"));
  EXPECT_THAT(refusal(changed("server_mnist.yaml", "num_pixel: 28", "num_pixel: 64"),
                      {file("client_1_mnist.yaml")}),
              HasSubstr("a CNN for 1 channels of 64 pixels"));
  EXPECT_THAT(refusal(changed("server_llm_dummy.yaml", "Llama-3.1-8B", "Llama-3.1-70B"),
                      {file("client_1_llm_dummy.yaml")}),
              HasSubstr("did you mean \"meta-llama/Llama-3.1-8B\""));
}

TEST(ImportAppfl, BadValuesNameTheirLine) {
  const auto with = [](const std::string& from, const std::string& to) {
    return refusal(changed("server_resnet_dummy.yaml", from, to), {kFirst, kSecond});
  };
  EXPECT_THAT(
      with("num_local_steps: 50", "num_local_steps: -5"),
      AllOf(HasSubstr("line 6"), HasSubstr("found \"-5\", expected a whole number from 1")));
  EXPECT_THAT(with("num_local_steps: 50", "num_local_steps: 5.5"), HasSubstr("found \"5.5\""));
  EXPECT_THAT(with("num_local_steps: 50", "num_local_steps:"), HasSubstr("found nothing"));
  EXPECT_THAT(with("lr: 0.01", "lr: nan"), HasSubstr("expected a number above 0"));
  EXPECT_THAT(with("do_validation: True", "do_validation: maybe"), HasSubstr("True or False"));
  EXPECT_THAT(with("max_message_size: 10485760", "max_message_size: 99999999999"),
              AllOf(HasSubstr("line 45"), HasSubstr("from 65536 to 2147483647")));
  EXPECT_THAT(with("\"equal\"", "\"fair\""), HasSubstr("expected equal, sample_size"));
  EXPECT_THAT(with("num_global_epochs: 5", "num_epochs: 5"),
              HasSubstr("found no server_configs.num_global_epochs"));
}

TEST(ImportAppfl, TruncatedFileIsRefused) {
  EXPECT_THAT(refusal(file("server_truncated.yaml"), {kFirst, kSecond}),
              AllOf(HasSubstr("server_truncated.yaml"), HasSubstr("is it whole?")));
}

TEST(ImportAppfl, FilesInTheWrongOrderAreRefused) {
  EXPECT_THAT(refusal(kFirst, {kServer}), HasSubstr("followed by its clients' files"));
}

TEST(ImportAppfl, NothingInAFileEscapesItsComment) {
  AppflFile server = kServer;
  server.text += "\"evil\\nkey\": 1\n";
  server.name = "a\n\"b.yaml";
  const auto imported = import_appfl(server, {kFirst, kSecond});
  const std::string text = render_import(imported, {server.name});
  EXPECT_THAT(text, HasSubstr("evil?key"));
  EXPECT_NO_THROW(parse_experiment(text, "imported.json", "/", {}, ask_laboratory));
}

TEST(ImportAppfl, WithoutTrainingNothingIsWeighedBySamples) {
  const auto imported =
      import_appfl(changed("server_llm_dummy.yaml", "client_weights_mode: \"equal\"",
                           "client_weights_mode: \"sample_size\""),
                   {file("client_1_llm_dummy.yaml")});
  EXPECT_EQ(imported.experiment.at("workload").at("weights"), "equal");
  EXPECT_THAT(losses_of(imported), HasSubstr("clients that do not train have no samples"));
}

AppflFile with_secure_aggregation() {
  return with_train_setting("use_secure_agg: True");
}

std::string acceptance(const AppflFile& server, const std::vector<std::string>& accepted) {
  try {
    refuse_losses(import_appfl(server, {kFirst, kSecond}).losses, accepted);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

TEST(ImportAppfl, WhatChangesMemoryStandsFirstAndHasToBeAccepted) {
  const AppflFile async =
      changed("server_resnet_dummy.yaml", "\"SyncScheduler\"", "\"AsyncScheduler\"");
  EXPECT_THAT(losses_with(async, {kFirst, kSecond}),
              ::testing::StartsWith("server_resnet_dummy.yaml:"));
  EXPECT_EQ(import_appfl(async, {kFirst, kSecond}).losses.front().key, "server_configs.scheduler");
  EXPECT_THAT(acceptance(async, {}), AllOf(HasSubstr("scheduler"), HasSubstr("SyncScheduler")));
  EXPECT_EQ(acceptance(async, {"scheduler"}), "accepted");
  EXPECT_EQ(acceptance(async, {"server_configs.scheduler"}), "accepted");
  EXPECT_THAT(acceptance(with_secure_aggregation(), {}), HasSubstr("use_secure_agg"));
  EXPECT_EQ(acceptance(with_secure_aggregation(), {"use_secure_agg"}), "accepted");
  EXPECT_EQ(acceptance(kServer, {}), "accepted");
  EXPECT_THAT(acceptance(kServer, {"scheduler"}), HasSubstr("nothing here does"));
}

TEST(ImportAppfl, AnUnknownModelIsRefusedForItsNameNotForItsClasses) {
  const AppflFile resnet50 =
      changed("server_resnet_dummy.yaml", "model_name: \"ResNet18\"",
              "model_name: \"ResNet50\"\n    model_kwargs:\n      num_classes: 4");
  EXPECT_THAT(refusal(resnet50, {kFirst, kSecond}),
              AllOf(HasSubstr("ResNet50"), Not(HasSubstr("classes"))));
}

}  // namespace
}  // namespace memduel
