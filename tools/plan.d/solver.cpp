// SPDX-License-Identifier: MIT
#include "solver.hpp"

#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>

#include <memory>
#include <stdexcept>

namespace hmk::plan {
namespace {

/// As COIN-OR takes it, column by column.
struct Columns {
  explicit Columns(const LinearProgram& program) {
    for (const LinearProgram::Column& column : program.columns) {
      for (const LinearProgram::Element& element : column.elements) {
        row.push_back(element.row);
        value.push_back(element.value);
      }
      start.push_back(static_cast<int>(row.size()));
      most.push_back(column.most);
      cost.push_back(column.cost);
    }
    for (const LinearProgram::Row& one : program.rows) {
      low.push_back(one.low);
      high.push_back(one.high);
    }
    least.resize(most.size());
  }

  int nr_columns() const { return static_cast<int>(most.size()); }
  int nr_rows() const { return static_cast<int>(low.size()); }

  std::vector<int> start = {0}, row;
  std::vector<double> value, least, most, cost, low, high;
};

}  // namespace

double least_in_fractions(const LinearProgram& program) {
  const Columns c(program);
  const std::unique_ptr<Clp_Simplex, decltype(&Clp_deleteModel)> model(Clp_newModel(),
                                                                       Clp_deleteModel);
  Clp_setLogLevel(model.get(), 0);
  Clp_loadProblem(model.get(), c.nr_columns(), c.nr_rows(), c.start.data(), c.row.data(),
                  c.value.data(), c.least.data(), c.most.data(), c.cost.data(), c.low.data(),
                  c.high.data());
  Clp_initialSolve(model.get());
  if (Clp_isProvenOptimal(model.get()) == 0) throw std::runtime_error("CLP proves no least value");
  return Clp_objectiveValue(model.get());
}

double least_in_whole_numbers(const LinearProgram& program) {
  const Columns c(program);
  const std::unique_ptr<Cbc_Model, decltype(&Cbc_deleteModel)> model(Cbc_newModel(),
                                                                     Cbc_deleteModel);
  Cbc_setLogLevel(model.get(), 0);
  Cbc_loadProblem(model.get(), c.nr_columns(), c.nr_rows(), c.start.data(), c.row.data(),
                  c.value.data(), c.least.data(), c.most.data(), c.cost.data(), c.low.data(),
                  c.high.data());
  for (int column = 0; column < c.nr_columns(); ++column) Cbc_setInteger(model.get(), column);
  Cbc_solve(model.get());
  if (Cbc_isProvenOptimal(model.get()) == 0) throw std::runtime_error("CBC proves no least value");
  return Cbc_getObjValue(model.get());
}

}  // namespace hmk::plan
